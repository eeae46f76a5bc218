import type { GivenMeta, GivenObject, StoredMeta, StoredObject } from './object.ts';
import type { ResourceInfo } from './resources.ts';
import { semanticEqual } from './semantic-equal.ts';

/** Removes the metadata that only a server sets. */
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

/** Metadata of a new object; slices start at generation 1 (K4). The store adds the resourceVersion. */
export function metaForCreate(
  info: ResourceInfo,
  given: GivenMeta,
  made: Pick<StoredMeta, 'name' | 'namespace' | 'uid' | 'creationTimestamp'>,
): StoredMeta {
  const generation = info.name === 'endpointslices' ? { generation: 1 } : {};
  return { ...clientPart(given), ...made, resourceVersion: '', ...generation };
}

/** Metadata of an updated object: the client's, except for the fields that only the server sets. */
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

/** The generation of a slice increases by one if its labels or anything outside its metadata changed (K4). */
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
