import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { isKubeconfigError, listContexts, loadKubeconfig } from '@sluice/kubernetes';
import type { ClusterCandidate, ClusterSource, InvalidCluster, SourceReading } from './cluster-source.ts';

export interface KubeconfigSourceOptions {
  /** A kubeconfig, or a directory of kubeconfigs. */
  readonly path: string;
  /** A context, several with commas between them, or `*` for all; the current one of each file if left out. */
  readonly contexts?: string | undefined;
  /** Of the cluster, where only one is named. */
  readonly name?: string | undefined;
}

/**
 * Clusters of kubeconfigs in files. In a directory each file is one; it gives its cluster its name without extension. Where
 * contexts are chosen, these are the names.
 */
export function kubeconfigSource({ path, contexts, name }: KubeconfigSourceOptions): ClusterSource {
  // A directory that is away for a while, as a mount may be, is no file that is spoilt: then nothing is known of its files.
  let isDirectory = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return {
    about: `kubeconfig ${path}`,
    isFile: !isDirectory,
    async read() {
      isDirectory ||= (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
      const files = isDirectory ? await filesIn(path) : [path];
      const readings = await Promise.all(
        files.map((file) => readFileOf(file, contexts, isDirectory ? parse(file).name : (name ?? parse(file).name))),
      );
      return {
        candidates: readings.flatMap(({ candidates }) => candidates),
        problems: readings.flatMap(({ problems }) => problems),
      };
    },
  };
}

/** Kubernetes mounts Secrets by way of names that begin with two dots; editors leave files that begin or end oddly. */
async function filesIn(directory: string): Promise<readonly string[]> {
  const names = (await readdir(directory)).filter((name) => !name.startsWith('.') && !name.endsWith('~')).sort();
  const files = await Promise.all(
    names.map((name) => join(directory, name)).map(async (file) => ((await mayBeFile(file)) ? [file] : [])),
  );
  return files.flat();
}

/** What is there and cannot be looked at is to be told of, and not to be taken for gone. */
async function mayBeFile(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isFile();
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ENOENT');
  }
}

async function readFileOf(file: string, contexts: string | undefined, name: string): Promise<SourceReading> {
  const problem = (reason: string): InvalidCluster => ({ name, from: file, reason });
  try {
    const names = await chosen(file, contexts);
    const text = await readFile(file, 'utf8');
    return {
      candidates: names.map((context) => candidate(file, text, context, context ?? name)),
      problems: [],
    };
  } catch (error) {
    if (isKubeconfigError(error)) return { candidates: [], problems: [problem(error.message)] };
    const { message } = error instanceof Error ? error : { message: String(error) };
    return { candidates: [], problems: [problem(`cannot use kubeconfig "${file}": ${message}`)] };
  }
}

/** Undefined: the current context. */
async function chosen(file: string, contexts: string | undefined): Promise<readonly (string | undefined)[]> {
  const all = await listContexts([file]);
  if (contexts === undefined) return [undefined];
  if (contexts === '*' && all.length === 0) throw new Error('it has no contexts; add one');
  if (contexts === '*') return all;
  // A name may have a comma in it.
  return all.includes(contexts) ? [contexts] : contexts.split(',').map((one) => one.trim());
}

function candidate(file: string, text: string, context: string | undefined, name: string): ClusterCandidate {
  return {
    name,
    from: context === undefined ? file : `${file}, context ${context}`,
    fingerprint: createHash('sha256')
      .update(`${context ?? ''}\0${text}`)
      .digest('hex'),
    load: () => loadKubeconfig({ paths: [file], context }),
  };
}
