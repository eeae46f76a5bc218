import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isKubeconfigError, listContexts, loadKubeconfig } from '@sluice/kubernetes';
import { errorMessage } from '@sluice/platform';
import type { ClusterCandidate, ClusterSource, InvalidCluster, SourceReading } from './cluster-source.ts';

interface KubeconfigSourceOptions {
  /** A kubeconfig, a directory of kubeconfigs, or several kubeconfigs to merge. */
  readonly path: string | readonly string[];
  /** A context, several separated by commas, or `*` for all. Default: each file's current context. */
  readonly contexts?: string | undefined;
  /** Name of the cluster if `path` is no directory. Default: the context that is current at the first reading. */
  readonly name?: string | undefined;
}

/**
 * Clusters from a kubeconfig file, a list of files that are merged, or a directory of files. A cluster is named after its
 * context; in a directory, if no contexts are chosen, after its file without the extension.
 */
export function kubeconfigSource({ path, contexts, name }: KubeconfigSourceOptions): ClusterSource {
  if (typeof path !== 'string') return mergedSource(path, contexts, name);
  // Remembered, because a directory whose mount is temporarily missing must not look like an invalid file.
  let isDirectory = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const file = mergedSource([path], contexts, name);
  const parsed: ParsedFiles = new Map();
  return {
    about: file.about,
    isFile: !isDirectory,
    async read(signal) {
      isDirectory ||= (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
      if (!isDirectory) return file.read(signal);
      const readings = await Promise.all(
        (await filesIn(path)).map((one) => readMerged([one], contexts, parse(one).name, parsed)),
      );
      return {
        candidates: readings.flatMap(({ candidates }) => candidates),
        problems: readings.flatMap(({ problems }) => problems),
      };
    },
  };
}

function mergedSource(files: readonly string[], contexts: string | undefined, name: string | undefined): ClusterSource {
  // Remembered, because another current context must not look like the removal of a cluster.
  let ownName = name;
  const parsed: ParsedFiles = new Map();
  return {
    about: `kubeconfig ${files.join(', ')}`,
    isFile: true,
    async read() {
      ownName ??= await currentContext(files);
      return readMerged(files, contexts, ownName ?? parse(files[0] ?? '').name, parsed);
    },
  };
}

/** Undefined if the files cannot be used. */
const currentContext = (paths: readonly string[]): Promise<string | undefined> =>
  loadKubeconfig({ paths }).then(
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

/** Candidates of files by their names, with the texts they were parsed from: files are read often and change rarely. */
type ParsedFiles = Map<
  string,
  { readonly texts: readonly string[]; readonly name: string; readonly candidates: readonly ClusterCandidate[] }
>;

async function readMerged(
  files: readonly string[],
  contexts: string | undefined,
  name: string,
  parsed: ParsedFiles,
): Promise<SourceReading> {
  const from = files.join(', ');
  const problem = (reason: string): InvalidCluster => ({ name, from, reason });
  try {
    const texts = await Promise.all(files.map(readIfExists));
    const known = parsed.get(from);
    if (known?.name === name && isDeepStrictEqual(known.texts, texts))
      return { candidates: known.candidates, problems: [] };
    const names = await chooseContexts(files, contexts);
    const candidates = names.map((context) => candidate(files, texts, context, context ?? name));
    parsed.set(from, { texts, name, candidates });
    return { candidates, problems: [] };
  } catch (error) {
    if (isKubeconfigError(error)) return { candidates: [], problems: [problem(error.message)] };
    const quoted = files.map((file) => `"${file}"`).join(', ');
    return { candidates: [], problems: [problem(`cannot use kubeconfig ${quoted}: ${errorMessage(error)}`)] };
  }
}

async function readIfExists(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return '';
    throw error;
  }
}

/** The chosen context names; undefined stands for the current context. */
async function chooseContexts(
  files: readonly string[],
  contexts: string | undefined,
): Promise<readonly (string | undefined)[]> {
  const all = await listContexts(files);
  if (contexts === undefined) return [undefined];
  if (contexts === '*' && all.length === 0) throw new Error('it has no contexts; add one');
  if (contexts === '*') return all;
  // A context name may contain a comma.
  return all.includes(contexts) ? [contexts] : contexts.split(',').map((one) => one.trim());
}

function candidate(
  files: readonly string[],
  texts: readonly string[],
  context: string | undefined,
  name: string,
): ClusterCandidate {
  const from = files.join(', ');
  return {
    name,
    from: context === undefined ? from : `${from}, context ${context}`,
    fingerprint: createHash('sha256')
      .update(`${context ?? ''}\0${texts.join('\0')}`)
      .digest('hex'),
    load: () => loadKubeconfig({ paths: files, context }),
  };
}
