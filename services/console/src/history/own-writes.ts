import { controllers, type EndpointSlice, type Endpoints } from '@sluice/controllers';
import type { Change, Fact, Outcome } from '@sluice/messages';
import type { ServiceState } from '@sluice/service-state';

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
 * Drops the content of objects that a plan wrote, because the plan is retained as well. Returns the names of those objects.
 * Snapshots are not modified.
 */
export function withoutOwnWrites(
  change: Change,
  versions: StoredVersions,
): { readonly change: Change; readonly ownWrites: readonly string[] } {
  const ownWrites = change.snapshot === undefined ? change.facts.flatMap((fact) => ownWrite(fact, versions)) : [];
  if (ownWrites.length === 0) return { change, ownWrites };
  const facts = change.facts.map((fact) => (ownWrite(fact, versions).length > 0 ? withoutContent(fact) : fact));
  return { change: { ...change, facts }, ownWrites };
}

/** Restores the content of these objects from the plan in flight or, after its Outcome, from the state. */
export function restoreOwnWrites(change: Change, ownWrites: readonly string[], state: ServiceState): Change {
  if (ownWrites.length === 0) return change;
  const facts = change.facts.map((fact): Fact => {
    if (fact.kind === 'slice' && fact.slice !== null && ownWrites.includes(fact.name)) {
      const content = plannedSlice(state, fact.name) ?? state.slices.get(fact.name)?.slice;
      return content === undefined ? fact : { ...fact, slice: { ...content, metadata: fact.slice.metadata } };
    }
    if (fact.kind === 'endpoints' && fact.endpoints !== null && ownWrites.includes(endpointsName)) {
      const content = plannedEndpoints(state) ?? state.endpoints?.endpoints;
      return content === undefined ? fact : { ...fact, endpoints: { ...content, metadata: fact.endpoints.metadata } };
    }
    return fact;
  });
  return { ...change, facts };
}

function ownWrite(fact: Fact, versions: StoredVersions): readonly string[] {
  if (fact.kind === 'slice') return isVersion(versions.get(fact.name), fact.slice) ? [fact.name] : [];
  return fact.kind === 'endpoints' && isVersion(versions.get(endpointsName), fact.endpoints) ? [endpointsName] : [];
}

function withoutContent(fact: Fact): Fact {
  if (fact.kind === 'slice' && fact.slice !== null) return { ...fact, slice: { ...fact.slice, endpoints: [] } };
  if (fact.kind === 'endpoints' && fact.endpoints !== null)
    return { ...fact, endpoints: { ...fact.endpoints, subsets: [] } };
  return fact;
}

function plannedSlice(state: ServiceState, name: string): EndpointSlice | undefined {
  for (const mutation of plannedMutations(state)) {
    if (mutation.verb === 'delete' || mutation.resource !== 'endpointslices') continue;
    if (mutation.object.metadata.name === name) return mutation.object;
  }
  return undefined;
}

function plannedEndpoints(state: ServiceState): Endpoints | undefined {
  for (const mutation of plannedMutations(state)) {
    if (mutation.verb !== 'delete' && mutation.resource === 'endpoints') return mutation.object;
  }
  return undefined;
}

function* plannedMutations(state: ServiceState) {
  for (const controller of controllers) {
    const groups = state.controller(controller).inFlight?.message.groups ?? [];
    for (const { mutations } of groups) yield* mutations;
  }
}

function isVersion(
  version: string | undefined,
  object: { readonly metadata: { readonly resourceVersion?: string } } | null,
): boolean {
  return version !== undefined && object?.metadata.resourceVersion === version;
}
