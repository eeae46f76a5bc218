import type { RawObject } from '@sluice/kubernetes';
import type { ObjectMeta } from '@sluice/model';
import { asRecord, isRecord } from '@sluice/platform';
import { apiVersionOf, type ResourceInfo } from './resources.ts';

/** Stored metadata. Cluster-scoped objects have an empty namespace. */
export interface StoredMeta extends ObjectMeta {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly deletionGracePeriodSeconds?: number;
}

/** A stored object: frozen, without kind and apiVersion, like the items of a list. */
export interface StoredObject {
  readonly metadata: StoredMeta;
  readonly [field: string]: unknown;
}

/** Metadata sent by a client; every field is optional. */
export type GivenMeta = Partial<StoredMeta>;

export interface GivenObject {
  readonly metadata: GivenMeta;
  readonly [field: string]: unknown;
}

export function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/**
 * A frozen copy of a client's object, as if decoded from JSON into the server's types: without nulls, insignificant empty
 * strings, `kind`, `apiVersion` and `managedFields` (A8).
 */
export function receive(info: ResourceInfo, object: RawObject): GivenObject {
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = object;
  const { managedFields: _managed, selfLink: _selfLink, ...meta } = asRecord(metadata);
  const emptyMeansAbsent = info.name === 'endpoints' ? emptyInEndpoints : emptyAnywhere;
  return Object.freeze({
    ...copyRecord(rest, emptyMeansAbsent),
    metadata: copyRecord(meta, emptyAnywhere),
  }) as GivenObject;
}

/** Fields in which an empty string means absent. Not the ports of slices: there, a port named "" differs from one without. */
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
/** Maps with user-defined keys. */
const userMaps: ReadonlySet<string> = new Set(['labels', 'annotations', 'selector', 'deprecatedTopology']);

function copyRecord(
  record: Readonly<Record<string, unknown>>,
  emptyMeansAbsent: ReadonlySet<string>,
): Readonly<Record<string, unknown>> {
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(record)) {
    const value = record[key];
    if (value === null || value === undefined || (value === '' && emptyMeansAbsent.has(key))) continue;
    copy[key] = copyValue(value, userMaps.has(key) ? nothing : emptyMeansAbsent);
  }
  return Object.freeze(copy);
}

function copyValue(value: unknown, emptyMeansAbsent: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map((item: unknown) => copyValue(item, emptyMeansAbsent)));
  return isRecord(value) ? copyRecord(value, emptyMeansAbsent) : value;
}

/** The object with kind and apiVersion, as in every response except the items of a list. */
export function withType(info: ResourceInfo, object: StoredObject): StoredObject {
  const { metadata, ...rest } = object;
  return { kind: info.kind, apiVersion: apiVersionOf(info), metadata: wireMeta(metadata), ...rest };
}

/** Metadata without the empty namespace of cluster-scoped objects. */
export function wireMeta(metadata: StoredMeta): StoredMeta {
  if (metadata.namespace !== '') return metadata;
  const { namespace: _namespace, ...rest } = metadata;
  return rest as StoredMeta;
}

export function keyOf(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}
