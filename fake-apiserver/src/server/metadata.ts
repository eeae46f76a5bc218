import type { GivenMeta, GivenObject, StoredMeta, StoredObject } from './object.ts';
import type { ResourceInfo } from './resources.ts';
import { semanticEqual } from './semantic-equal.ts';

/** What the client gives and the server keeps to itself: everything that only a server may say is left out. */
function clientPart(metadata: GivenMeta): GivenMeta {
  const {
    uid: _uid,
    resourceVersion: _version,
    generation: _generation,
    creationTimestamp: _created,
    deletionTimestamp: _deletion,
    deletionGracePeriodSeconds: _grace,
    ...kept
  } = metadata;
  return kept;
}

/** Metadata of a new object; slices begin with generation 1 (K4). The store adds the resourceVersion. */
export function metaForCreate(
  info: ResourceInfo,
  given: GivenMeta,
  made: Pick<StoredMeta, 'name' | 'namespace' | 'uid' | 'creationTimestamp'>,
): StoredMeta {
  const generation = info.name === 'endpointslices' ? { generation: 1 } : {};
  return { ...clientPart(given), ...made, resourceVersion: '', ...generation };
}

/** Metadata of a changed object: the client's, with the stored object's where only the server may say. */
export function metaForUpdate(given: GivenMeta, { metadata: old }: StoredObject): StoredMeta {
  const { creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation } = old;
  return {
    ...clientPart(given),
    name: old.name,
    namespace: old.namespace,
    uid: old.uid,
    resourceVersion: old.resourceVersion,
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(deletionGracePeriodSeconds === undefined ? {} : { deletionGracePeriodSeconds }),
    ...(generation === undefined ? {} : { generation }),
  };
}

/** A slice's generation rises by one if anything outside the metadata, or the labels, changed (K4). */
export function withGeneration(
  info: ResourceInfo,
  next: GivenObject,
  metadata: StoredMeta,
  old: StoredObject | undefined,
): StoredMeta {
  if (info.name !== 'endpointslices') return metadata;
  if (old === undefined) return { ...metadata, generation: 1 };
  const { metadata: _next, ...nextBody } = next;
  const { metadata: oldMeta, ...oldBody } = old;
  const same = semanticEqual(nextBody, oldBody) && semanticEqual(metadata.labels, oldMeta.labels);
  return { ...metadata, generation: (oldMeta.generation ?? 1) + (same ? 0 : 1) };
}
