import { controllers, type EndpointSlice, type Endpoints } from '@sluice/controllers';
import type { Change, Fact, Outcome } from '@sluice/messages';
import type { ServiceState } from '@sluice/service-state';
import { type RetainedRecord, sizeOf } from './retained-record.ts';

/** resourceVersion of the last write to each slice, by name, and to the Endpoints. */
export type StoredVersions = Map<string, string>;

/** Key of the Endpoints object; no slice has an empty name. */
const endpointsName = '';

/** Records the writes of a plan. Returns false if there were none. */
export function recordStored(versions: StoredVersions, { results }: Outcome): boolean {
  let hasWrites = false;
  for (const { verb, resource, name, stored, current } of results) {
    if (verb === 'delete') versions.delete(name);
    // An object that was read back may differ from the plan; the Outcome contains it.
    if (stored === undefined || current !== undefined) continue;
    versions.set(resource === 'endpoints' ? endpointsName : name, stored.resourceVersion);
    hasWrites = true;
  }
  return hasWrites;
}

/**
 * Drops the content of objects that a plan wrote from a Change, because the plan is retained as well. Encoded records and
 * snapshots are not modified.
 */
export function withoutOwnWrites(record: RetainedRecord, versions: StoredVersions): RetainedRecord {
  const { content } = record;
  if (content instanceof Uint8Array || content.kind !== 'change' || content.snapshot !== undefined) return record;
  const { ownWrites = [] } = record;
  const isOwnWrite = (fact: Fact) => {
    const name = writtenName(fact);
    const isStored = name !== undefined && objectOf(fact)?.metadata.resourceVersion === versions.get(name);
    return isStored && versions.has(name) && !ownWrites.includes(name);
  };
  // Most Changes have no content to drop.
  if (!content.facts.some(isOwnWrite)) return record;
  const dropped = content.facts.filter(isOwnWrite);
  const facts = content.facts.map((fact): Fact => {
    if (!dropped.includes(fact)) return fact;
    if (fact.kind === 'slice') return { ...fact, slice: { ...(fact.slice as EndpointSlice), endpoints: [] } };
    return { ...(fact as Fact & { kind: 'endpoints' }), endpoints: { ...(objectOf(fact) as Endpoints), subsets: [] } };
  });
  const change = { ...content, facts };
  const names = dropped.flatMap((fact) => writtenName(fact) ?? []);
  return { ...record, content: change, ownWrites: [...ownWrites, ...names], size: sizeOf(change) };
}

/** Whether a Change has content that a plan may have written. */
export function mayBeEcho({ content, ownWrites = [] }: RetainedRecord): boolean {
  if (content instanceof Uint8Array || content.kind !== 'change' || content.snapshot !== undefined) return false;
  return content.facts.some((fact) => objectOf(fact) !== null && !ownWrites.includes(writtenName(fact) ?? ''));
}

/** Name of the object that the fact is about; undefined if it is none that plans write. */
function writtenName(fact: Fact): string | undefined {
  if (fact.kind === 'slice') return fact.name;
  return fact.kind === 'endpoints' ? endpointsName : undefined;
}

function objectOf(fact: Fact): EndpointSlice | Endpoints | null {
  if (fact.kind === 'slice') return fact.slice;
  return fact.kind === 'endpoints' ? fact.endpoints : null;
}

/** Restores the content of these objects from the plan in flight or, after its Outcome, from the state. */
export function restoreOwnWrites(change: Change, ownWrites: readonly string[], state: ServiceState): Change {
  if (ownWrites.length === 0) return change;
  const planned = [...plannedObjects(state)];
  const facts = change.facts.map((fact): Fact => {
    if (fact.kind === 'slice' && fact.slice !== null && ownWrites.includes(fact.name)) {
      const mutation = planned.find(
        (one) => one.resource === 'endpointslices' && one.object.metadata.name === fact.name,
      );
      const content = (mutation?.object as EndpointSlice | undefined) ?? state.slices.get(fact.name)?.slice;
      return content === undefined ? fact : { ...fact, slice: { ...content, metadata: fact.slice.metadata } };
    }
    if (fact.kind === 'endpoints' && fact.endpoints !== null && ownWrites.includes(endpointsName)) {
      const mutation = planned.find(({ resource }) => resource === 'endpoints');
      const content = (mutation?.object as Endpoints | undefined) ?? state.endpoints?.endpoints;
      return content === undefined ? fact : { ...fact, endpoints: { ...content, metadata: fact.endpoints.metadata } };
    }
    return fact;
  });
  return { ...change, facts };
}

/** Objects that plans in flight create or update. */
function* plannedObjects(state: ServiceState) {
  for (const controller of controllers) {
    for (const { mutations } of state.controller(controller).inFlight?.message.groups ?? []) {
      for (const mutation of mutations) if (mutation.verb !== 'delete') yield mutation;
    }
  }
}
