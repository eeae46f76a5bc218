import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { isKubeconfigError, listContexts, loadKubeconfig } from '@sluice/kubernetes';
import { errorMessage } from '@sluice/runtime';
import type { ClusterCandidate, ClusterSource, InvalidCluster, SourceReading } from './cluster-source.ts';

export interface KubeconfigSourceOptions {
  /** A kubeconfig, or a directory of kubeconfigs. */
  readonly path: string;
  /** A context, several separated by commas, or `*` for all. Default: each file's current context. */
  readonly contexts?: string | undefined;
  /** Name of the cluster if `path` is a file. Default: the context that is current when the file is first read. */
  readonly name?: string | undefined;
}

/**
 * Clusters from a kubeconfig file or a directory of them. A cluster is named after its context; in a directory, if no
 * contexts are chosen, after its file without the extension.
 */
export function kubeconfigSource({ path, contexts, name }: KubeconfigSourceOptions): ClusterSource {
  // Remembered, because a directory whose mount is temporarily missing must not look like an invalid file.
  let isDirectory = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  // Remembered, because another current context must not look like the removal of a cluster.
  let ownName = name;
  return {
    about: `kubeconfig ${path}`,
    isFile: !isDirectory,
    async read() {
      isDirectory ||= (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
      if (!isDirectory) ownName ??= await currentContext(path);
      const files = isDirectory ? await filesIn(path) : [path];
      const readings = await Promise.all(
        files.map((file) => readFileOf(file, contexts, isDirectory ? parse(file).name : (ownName ?? parse(file).name))),
      );
      return {
        candidates: readings.flatMap(({ candidates }) => candidates),
        problems: readings.flatMap(({ problems }) => problems),
      };
    },
  };
}

/** Undefined if the file cannot be used. */
const currentContext = (file: string): Promise<string | undefined> =>
  loadKubeconfig({ paths: [file] }).then(
    ({ context }) => context,
    () => undefined,
  );

/** Skips the `..data` links of mounted Secrets and the backup files of editors. */
async function filesIn(directory: string): Promise<readonly string[]> {
  const names = (await readdir(directory)).filter((name) => !name.startsWith('.') && !name.endsWith('~')).sort();
  const files = await Promise.all(
    names.map((name) => join(directory, name)).map(async (file) => ((await isFile(file)) ? [file] : [])),
  );
  return files.flat();
}

/** True also for an entry that exists but cannot be read, so that it is reported instead of taken for deleted. */
async function isFile(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isFile();
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ENOENT');
  }
}

async function readFileOf(file: string, contexts: string | undefined, name: string): Promise<SourceReading> {
  const problem = (reason: string): InvalidCluster => ({ name, from: file, reason });
  try {
    const names = await chooseContexts(file, contexts);
    const text = await readFile(file, 'utf8');
    return {
      candidates: names.map((context) => candidate(file, text, context, context ?? name)),
      problems: [],
    };
  } catch (error) {
    if (isKubeconfigError(error)) return { candidates: [], problems: [problem(error.message)] };
    return { candidates: [], problems: [problem(`cannot use kubeconfig "${file}": ${errorMessage(error)}`)] };
  }
}

/** The chosen context names; undefined stands for the current context. */
async function chooseContexts(file: string, contexts: string | undefined): Promise<readonly (string | undefined)[]> {
  const all = await listContexts([file]);
  if (contexts === undefined) return [undefined];
  if (contexts === '*' && all.length === 0) throw new Error('it has no contexts; add one');
  if (contexts === '*') return all;
  // A context name may contain a comma.
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
