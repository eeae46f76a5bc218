import { dirname, resolve } from 'node:path';
import { UsageError } from '@sluice/platform/process';
import { load } from 'js-yaml';
import * as kinds from './kinds.ts';
import { type Given, type Layer, where } from './layer.ts';
import { isMap, type Problems, parse } from './problems.ts';
import { isClusterPath, paths, settingAt, visibilityOf } from './setting-paths.ts';
import { clusterSettings } from './settings.ts';

/** Reads a text file; errors have the system's `code`. */
export type ReadText = (path: string) => string;

/** The settings of a file by path, with the paths of files that contain values. */
const leaves = new Map(
  paths
    .filter((path) => !isClusterPath(path))
    .flatMap((path) => {
      const setting = settingAt(path);
      const own = [path as string, { kind: setting.kind, visibility: visibilityOf(setting) }] as const;
      // Hidden as well: a user may have put the secret itself there.
      const file = [`${path}File`, { kind: kinds.path, visibility: 'hidden' }] as const;
      return setting.file ? [own, file] : [own];
    }),
);
const clusterKeys = Object.keys(clusterSettings).map((path) => path.slice('cluster.'.length));

/**
 * Reads the configuration file and adds what is invalid to `problems`.
 *
 * @throws UsageError if it cannot be read or parsed
 */
export function fileLayer(file: string, readText: ReadText, problems: Problems): Layer {
  const origin = { from: 'file', file } as const;
  const at = (path: string) => where(origin, path);
  const layer = new Map<string, Given>();
  readSection(parseYaml(file, read(file, readText)), '');
  return layer;

  function readSection(raw: unknown, prefix: string): void {
    const below = prefix === '' ? '' : `${prefix}.`;
    const keys = [...leaves.keys()].filter((path) => path.startsWith(below)).map((path) => path.slice(below.length));
    const known = [...new Set([...(prefix === '' ? ['clusters'] : []), ...keys.map((key) => key.replace(/\..*/, ''))])];
    for (const [key, value] of entriesOf(raw, prefix, known)) {
      const path = `${below}${key}`;
      const leaf = leaves.get(path);
      if (leaf !== undefined) readLeaf(path, value, leaf);
      else if (value === null || value === undefined) continue;
      else if (path === 'clusters') readClusters(value);
      else readSection(value, path);
    }
  }

  function readLeaf(path: string, raw: unknown, leaf: Pick<Parameters<typeof parse>[0], 'kind' | 'visibility'>): void {
    if (parse({ ...leaf, raw, at: (entry) => at(`${path}${entry}`) }, problems) === undefined) return;
    layer.set(path, { raw: path.endsWith('File') ? inFolder(raw) : raw, origin });
  }

  function readClusters(raw: unknown): void {
    if (!Array.isArray(raw)) return problems.addWrong(at('clusters'), raw, 'a list of clusters');
    const clusters = raw.map((cluster: unknown, index) => {
      for (const [key, value] of entriesOf(cluster, `clusters[${index}]`, clusterKeys)) {
        const { kind } = settingAt(`cluster.${key}` as keyof typeof clusterSettings);
        const where = (entry: string) => at(`clusters[${index}].${key}${entry}`);
        parse({ kind, raw: value, at: where, visibility: 'shown' }, problems);
      }
      const hasFile = isMap(cluster) && cluster.kubeconfig !== undefined;
      return hasFile ? { ...cluster, kubeconfig: inFolder(cluster.kubeconfig) } : cluster;
    });
    layer.set('clusters', { raw: clusters, origin });
  }

  /** The entries of a map with known keys, in the order of the settings. */
  function entriesOf(raw: unknown, path: string, known: readonly string[]): readonly (readonly [string, unknown])[] {
    if (!isMap(raw)) {
      problems.addWrong(at(path), raw, 'a map of settings');
      return [];
    }
    for (const key of Object.keys(raw)) {
      if (!known.includes(key)) problems.addUnknown(at(path === '' ? key : `${path}.${key}`), key, known);
    }
    return known.filter((key) => Object.hasOwn(raw, key)).map((key) => [key, raw[key]]);
  }

  function inFolder(path: unknown): string {
    return resolve(dirname(file), String(path));
  }
}

function read(file: string, readText: ReadText): string {
  try {
    return readText(file);
  } catch (error) {
    const why = errorCode(error) === 'ENOENT' ? 'does not exist' : `cannot be read: ${errorCode(error)}`;
    throw new UsageError(`configuration file "${file}" ${why}; check --config or SLUICE_CONFIG`);
  }
}

function parseYaml(file: string, text: string): unknown {
  try {
    // An empty file, or one with only comments, sets nothing.
    return load(text.replace(/^\uFEFF/, '')) ?? {};
  } catch (error) {
    if (text.split('\n').every((line) => /^\s*(#|$)/.test(line))) return {};
    throw new UsageError(`${file} is not valid YAML: ${yamlProblem(error)}`);
  }
}

/**
 * The parser's message quotes the file, which may contain secrets (`password: *x`), so only the kind of error and the
 * line are reported.
 */
function yamlProblem(error: unknown): string {
  const { reason, mark } = isMap(error) ? error : {};
  const line = isMap(mark) ? mark.line : undefined;
  const what = typeof reason === 'string' ? reason.replace(/(: | ["!]).*/s, '') : '';
  return `${what || 'a syntax error'}${typeof line === 'number' ? ` in line ${line + 1}` : ''}`;
}

export function errorCode(error: unknown): string {
  return isMap(error) && typeof error.code === 'string' ? error.code : 'unknown error';
}
