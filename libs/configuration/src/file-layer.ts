import { dirname, resolve } from 'node:path';
import { UsageError } from '@sluice/process';
import { load } from 'js-yaml';
import { z } from 'zod';
import * as kinds from './kinds.ts';
import { type Given, type Layer, where } from './layer.ts';
import { dig, isMap, issueText, type Problems } from './problems.ts';
import { isClusterPath, paths, settingAt, type Visibility, visibilityOf } from './settings.ts';

/** Reads a text file; errors have the system's `code`. */
export type ReadText = (path: string) => string;

export const clustersSchema = z.array(
  z.strictObject(
    {
      name: kinds.text.schema.optional(),
      kubeconfig: kinds.path.schema.optional(),
      context: kinds.text.schema.optional(),
      inCluster: kinds.boolean.schema.optional(),
      namespaces: kinds.namespaces.schema.optional(),
      excludeNamespaces: kinds.namespaces.schema.optional(),
    },
    { error: expectMap },
  ),
  { error: 'a list of clusters' },
);
const clusterKeys = ['name', 'kubeconfig', 'context', 'inCluster', 'namespaces', 'excludeNamespaces'];

interface Leaf {
  readonly keys: readonly string[];
  readonly schema: z.ZodType;
  readonly visibility: Visibility;
  readonly isPath: boolean;
}

const leaves: ReadonlyMap<string, Leaf> = new Map(
  paths
    .filter((path) => !isClusterPath(path))
    .flatMap((path): [string, Leaf][] => {
      const setting = settingAt(path);
      const value: [string, Leaf] = [
        path,
        { keys: path.split('.'), schema: setting.kind.schema, visibility: visibilityOf(setting), isPath: false },
      ];
      if (!setting.file) return [value];
      // Hidden as well: a user may have put the secret itself there.
      const keys = `${path}File`.split('.');
      return [value, [`${path}File`, { keys, schema: kinds.path.schema, visibility: 'hidden', isPath: true }]];
    }),
);

/** Known keys of each section, by path; filled while the schema of the whole file is built. */
const known = new Map<string, string[]>();
const schema = mapOf([]);

function mapOf(prefix: readonly string[]): z.ZodType {
  const shape: Record<string, z.ZodType> = prefix.length === 0 ? { clusters: clustersSchema.nullish() } : {};
  for (const { keys, schema: leaf } of leaves.values()) {
    const key = keys[prefix.length];
    if (key === undefined || prefix.some((part, index) => keys[index] !== part)) continue;
    shape[key] ??= keys.length === prefix.length + 1 ? leaf.optional() : mapOf([...prefix, key]).nullish();
  }
  known.set(prefix.join('.'), Object.keys(shape));
  return z.strictObject(shape, { error: expectMap });
}

/** Undefined for unknown keys, which have their own message. */
function expectMap(issue: { readonly code?: string | undefined }): string | undefined {
  return issue.code === 'invalid_type' ? 'a map of settings' : undefined;
}

/**
 * Reads the configuration file and adds what is invalid to `problems`.
 *
 * @throws UsageError if it cannot be read or parsed
 */
export function fileLayer(file: string, readText: ReadText, problems: Problems): Layer {
  const origin = { from: 'file', file } as const;
  const whole = { at: (path: string) => where(origin, path), path: '' };
  const raw = parse(file, read(file, readText));
  const layer = new Map<string, Given>();
  const invalid = new Set<string>();
  for (const issue of schema.safeParse(raw).error?.issues ?? []) {
    const names = issue.path.filter((key) => typeof key === 'string').join('.');
    const inClusters = issue.path[0] === 'clusters';
    const visibility = inClusters && names !== 'clusters' ? 'shown' : (leaves.get(names)?.visibility ?? 'hidden');
    problems.add(issueText(whole, issue, raw, inClusters ? clusterKeys : (known.get(names) ?? []), visibility));
    invalid.add(inClusters ? 'clusters' : names);
  }
  for (const [path, { keys, isPath }] of leaves) {
    const value = dig(raw, keys);
    if (value === undefined || invalid.has(path)) continue;
    layer.set(path, { raw: isPath ? resolve(dirname(file), String(value)) : value, origin });
  }
  const clusters = dig(raw, ['clusters']);
  if (Array.isArray(clusters) && !invalid.has('clusters'))
    layer.set('clusters', { raw: clusters.map(absolute), origin });
  return layer;

  function absolute(cluster: unknown): unknown {
    if (!isMap(cluster) || typeof cluster.kubeconfig !== 'string') return cluster;
    return { ...cluster, kubeconfig: resolve(dirname(file), cluster.kubeconfig) };
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

function parse(file: string, text: string): unknown {
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
  const reason = dig(error, ['reason']);
  const line = dig(error, ['mark', 'line']);
  const what = typeof reason === 'string' ? reason.replace(/(: | ["!]).*/s, '') : '';
  return `${what || 'a syntax error'}${typeof line === 'number' ? ` in line ${line + 1}` : ''}`;
}

export function errorCode(error: unknown): string {
  const code = dig(error, ['code']);
  return typeof code === 'string' ? code : 'unknown error';
}
