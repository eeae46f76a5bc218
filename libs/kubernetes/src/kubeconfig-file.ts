import { readFile } from 'node:fs/promises';
import { asRecord, asString, isRecord, type JsonRecord } from '@sluice/platform';
import { type KubeconfigEntries, kubeconfigEntries, malformed } from './kubeconfig-entries.ts';
import { KubeconfigError } from './kubeconfig-error.ts';

/**
 * Reads the files in order and merges them like kubectl: the first value wins. Missing files are skipped as long as one
 * exists. In a list, a file may be empty or only set the current context.
 */
export async function readKubeconfigs(paths: readonly string[]): Promise<KubeconfigEntries> {
  const files: KubeconfigEntries[] = [];
  for (const file of paths) {
    const text = await readText(file);
    if (text === undefined || (paths.length > 1 && text.trim() === '')) continue;
    files.push(await parseKubeconfig(file, text, { partial: paths.length > 1 }));
  }
  if (files.length > 0) return files.reduce(merge);
  const names = paths.map((file) => `"${file}"`).join(', ');
  throw new KubeconfigError(
    'KUBECONFIG_NOT_FOUND',
    paths.length === 0
      ? 'no kubeconfig given; pass --kubeconfig FILE'
      : `kubeconfig ${names} does not exist; pass an existing file with --kubeconfig`,
  );
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    const advice =
      code === 'EISDIR' ? 'it is a directory; name the file in it' : `${code}; check its owner and permissions`;
    throw new KubeconfigError('KUBECONFIG_UNREADABLE', `kubeconfig "${file}" cannot be read: ${advice}`);
  }
}

/**
 * Parses a kubeconfig. `file` is its name in messages; paths in it are relative to its directory. A partial one may have
 * only a current context. Throws KubeconfigError.
 */
export async function parseKubeconfig(
  file: string,
  text: string,
  { partial = false } = {},
): Promise<KubeconfigEntries> {
  if (text.trim() === '') throw malformed(file, 'it is empty');
  // Loaded on demand, because a run without a kubeconfig does not need it.
  const { load } = await import('js-yaml');
  let raw: unknown;
  try {
    raw = load(text);
  } catch (error) {
    throw malformed(file, `it is not YAML: ${yamlProblem(error)}`);
  }
  const lists = ['clusters', 'contexts', 'users'];
  const isKubeconfig = (record: JsonRecord) =>
    lists.some((key) => Array.isArray(record[key])) || (partial && 'current-context' in record);
  if (!isRecord(raw) || !isKubeconfig(raw)) {
    throw malformed(file, 'it is not a kubeconfig: it has no list of clusters, contexts or users');
  }
  return kubeconfigEntries(file, raw);
}

function merge(first: KubeconfigEntries, second: KubeconfigEntries): KubeconfigEntries {
  const byName = <T extends { readonly name: string }>(a: readonly T[], b: readonly T[]): readonly T[] => [
    ...a,
    ...b.filter((entry) => !a.some((earlier) => earlier.name === entry.name)),
  ];
  return {
    clusters: byName(first.clusters, second.clusters),
    users: byName(first.users, second.users),
    contexts: byName(first.contexts, second.contexts),
    currentContext: first.currentContext || second.currentContext,
    incomplete: [...first.incomplete, ...second.incomplete],
    files: [...first.files, ...second.files],
  };
}

/**
 * The parser's message quotes the file, and its reason may contain an alias or a tag. Both may be a secret, such as a
 * password that starts with * or !. Only the kind of error and the line are reported.
 */
function yamlProblem(error: unknown): string {
  const { reason, mark } = asRecord(error);
  const line = asRecord(mark).line;
  const what = asString(reason).replace(/(: | ["!]).*/s, '');
  return `${what || 'syntax error'}${typeof line === 'number' ? ` in line ${line + 1}` : ''}`;
}

/** The system's error code, e.g. ENOENT. */
export function errorCode(error: unknown): string {
  return asString(asRecord(error).code) || 'unknown error';
}
