import { endpointSliceTracker } from '@sluice/controllers';
import { type Change, compareStamps, type Fact, type Outcome } from '@sluice/messages';
import { compareResourceVersions } from '@sluice/model';
import { managerOf } from './own-slices.ts';
import type { ServiceState } from './service-state.ts';

/**
 * Why the Change proves that the cluster was restored from a backup; undefined if it does not. `state` is the state before
 * the Change. Within one history, the generation and the resourceVersion of an object only rise: a newer version never has a
 * lower generation, and a list contains each object at least in the version that was written before the list, also where only
 * its metadata changed, which leaves the generation.
 */
export function proofOfRestore(state: ServiceState, change: Change): string | undefined {
  if (compareStamps(change.stamp, state.snapshot.stamp) <= 0) return undefined;
  const listed =
    (change.snapshot?.first ? change.snapshot : state.snapshot.open)?.resourceVersions.endpointslices ?? '';
  for (const fact of change.facts) {
    if (fact.kind === 'endpoints') {
      const proof = olderEndpoints(state, fact, change);
      if (proof !== undefined) return proof;
    }
    if (fact.kind !== 'slice' || fact.slice === null) continue;
    const known = state.slices.get(fact.name)?.slice;
    const { uid, resourceVersion = '', generation = 0 } = fact.slice.metadata;
    const controller = known && managerOf(known);
    if (known === undefined || controller === undefined || known.metadata.uid !== uid) continue;
    const { resourceVersion: writtenAt = '' } = known.metadata;
    const order = compareResourceVersions(resourceVersion, writtenAt);
    const { tracked } = state.controller(controller).trackers;
    if (order > 0 && endpointSliceTracker.proofOf(tracked, fact.slice) === 'restored')
      return `slice ${fact.name} has generation ${generation} again`;
    if (order < 0 && listed !== '' && compareResourceVersions(writtenAt, listed) <= 0)
      return `slice ${fact.name} was listed at ${listed} in version ${resourceVersion} after ${writtenAt}`;
  }
  return undefined;
}

/**
 * Why the Outcome proves it: an object that the plan was decided on is older now. Without this, every update would meet a
 * conflict, and every read a version that the state takes for outdated.
 */
export function proofOfRestoreByOutcome(state: ServiceState, { controller, results }: Outcome): string | undefined {
  const { inFlight } = state.controller(controller);
  for (const { group, index, name, current } of results) {
    const mutation = inFlight?.message.groups[group]?.mutations[index];
    if (mutation === undefined || mutation.verb === 'create' || !current) continue;
    const { uid, resourceVersion: decidedOn = '' } = mutation.verb === 'delete' ? mutation : mutation.object.metadata;
    const { uid: foundUid, resourceVersion: found = '' } = current.metadata;
    if (uid === undefined || uid !== foundUid || compareResourceVersions(found, decidedOn) >= 0) continue;
    return `${mutation.resource} ${name} was read in version ${found} after ${decidedOn}`;
  }
  return undefined;
}

/** Endpoints have no generation. The same object in an older version than the one that was written before the list. */
function olderEndpoints(
  { endpoints: known, snapshot }: ServiceState,
  { endpoints }: Extract<Fact, { kind: 'endpoints' }>,
  change: Change,
): string | undefined {
  const listed = (change.snapshot?.first ? change.snapshot : snapshot.open)?.resourceVersions.endpoints ?? '';
  if (known === null || endpoints === null || listed === '') return undefined;
  const { uid, resourceVersion: writtenAt = '' } = known.endpoints.metadata;
  const { uid: foundUid, resourceVersion = '' } = endpoints.metadata;
  if (uid !== foundUid || compareResourceVersions(resourceVersion, writtenAt) >= 0) return undefined;
  if (compareResourceVersions(writtenAt, listed) > 0) return undefined;
  return `Endpoints were listed at ${listed} in version ${resourceVersion} after ${writtenAt}`;
}
