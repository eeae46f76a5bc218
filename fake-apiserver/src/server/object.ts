import type { ObjectMeta } from '@sluice/controllers';
import type { RawObject } from '@sluice/kubernetes';
import type { ResourceInfo } from './resources.ts';
import { apiVersionOf } from './resources.ts';

/** The metadata that the server keeps. Cluster-scoped objects have an empty namespace. */
export interface StoredMeta extends ObjectMeta {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly deletionGracePeriodSeconds?: number;
}

/** An object as stored: frozen, and without kind and apiVersion, as in the items of a list. */
export interface StoredObject {
  readonly metadata: StoredMeta;
  readonly [field: string]: unknown;
}

/** Metadata of an object that somebody sends; nothing is sure to be there. */
export type GivenMeta = Partial<StoredMeta>;

export interface GivenObject {
  readonly metadata: GivenMeta;
  readonly [field: string]: unknown;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

export function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/**
 * A frozen copy without nulls and without empty texts that mean nothing, as if the object had gone over the wire and
 * through the server's types: neither side can change the other's. `kind`, `apiVersion` and `managedFields` (A8) are
 * left out.
 */
export function receive(info: ResourceInfo, object: RawObject): GivenObject {
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = object;
  const { managedFields: _managed, selfLink: _selfLink, ...meta } = recordOf(metadata);
  const meaningless = info.name === 'endpoints' ? emptyInEndpoints : emptyAnywhere;
  return Object.freeze({ ...copyRecord(rest, meaningless), metadata: copyRecord(meta, emptyAnywhere) }) as GivenObject;
}

/** Fields whose empty text is the same as none. Not those of slices: there a port named "" differs from one without. */
const emptyAnywhere: ReadonlySet<string> = new Set([
  'uid',
  'namespace',
  'kind',
  'apiVersion',
  'fieldPath',
  'resourceVersion',
  'generateName',
  'creationTimestamp',
]);
const emptyInEndpoints: ReadonlySet<string> = new Set([...emptyAnywhere, 'name', 'hostname']);
const nothing: ReadonlySet<string> = new Set();
/** Maps with keys of the user's choice. */
const userMaps: ReadonlySet<string> = new Set(['labels', 'annotations', 'selector', 'deprecatedTopology']);

function copyRecord(
  record: Readonly<Record<string, unknown>>,
  meaningless: ReadonlySet<string>,
): Readonly<Record<string, unknown>> {
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(record)) {
    const value = record[key];
    if (value === null || value === undefined || (value === '' && meaningless.has(key))) continue;
    copy[key] = copyValue(value, userMaps.has(key) ? nothing : meaningless);
  }
  return Object.freeze(copy);
}

function copyValue(value: unknown, meaningless: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map((item: unknown) => copyValue(item, meaningless)));
  return isRecord(value) ? copyRecord(value, meaningless) : value;
}

/** The object with kind and apiVersion, as every answer but the items of a list carries them. */
export function withType(info: ResourceInfo, object: StoredObject): StoredObject {
  const { metadata, ...rest } = object;
  return { kind: info.kind, apiVersion: apiVersionOf(info), metadata: wireMeta(metadata), ...rest };
}

/** A list's item, or an object's metadata, without the empty namespace of cluster-scoped objects. */
export function wireMeta(metadata: StoredMeta): StoredMeta {
  if (metadata.namespace !== '') return metadata;
  const { namespace: _namespace, ...rest } = metadata;
  return rest as StoredMeta;
}

export function keyOf(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}
