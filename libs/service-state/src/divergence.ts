import { endpointSliceTracker } from '@sluice/controllers';
import {
  type Change,
  compareStamps,
  type Digest,
  digestFacts,
  digestVersion,
  type Fact,
  type ObjectReference,
  type Outcome,
} from '@sluice/messages';
import { compareResourceVersions } from '@sluice/model';
import { managerOf } from './reconcile.ts';
import type { ServiceState } from './service-state.ts';
import { isDeleted } from './tombstones.ts';

/** A part of a state that the digest covers. */
export type StatePart = 'service' | 'pods' | 'topology' | 'endpoints' | 'slices';

/**
 * The parts of the state that do not match the digest of the Change that was applied last. Empty if they cannot be
 * compared: the state is incomplete, or newer than the Change.
 */
export function differences(
  state: ServiceState,
  { stamp, digest, resourceVersions }: Change,
  now: number,
): readonly StatePart[] {
  const { complete, open, stamp: last } = state.snapshot;
  if (digest === undefined || digest.version !== digestVersion || !complete || open !== null) return [];
  if (last.epoch !== stamp.epoch || last.sequence !== stamp.sequence) return [];
  const own = digestFacts(factsOf(state));
  const hashed = (['service', 'pods', 'topology'] as const).filter((part) => own[part] !== digest[part]);
  const written = (['endpoints', 'slices'] as const).filter((part) => {
    const published = resourceVersions?.[part === 'endpoints' ? 'endpoints' : 'endpointslices'] ?? '';
    return !matches(own[part], digest[part], published, (uid, version) =>
      isDeleted(state.tombstones, uid, now, version, published),
    );
  });
  return [...hashed, ...written];
}

/**
 * Compares written objects. Outcomes arrive before the watch: the state may have newer versions, objects that the watcher
 * has not reached yet, and deletions. An object that the watcher still has at a version after its deletion exists.
 */
function matches(
  own: Digest['slices'],
  watched: readonly ObjectReference[],
  published: string,
  isGone: (uid: string, resourceVersion: string) => boolean,
): boolean {
  const byName = new Map(own.map((reference) => [reference.name, reference]));
  for (const { name, uid, resourceVersion } of watched) {
    const mine = byName.get(name);
    byName.delete(name);
    if (isGone(uid, resourceVersion)) continue;
    const order = compareResourceVersions(mine?.resourceVersion ?? '', resourceVersion);
    if (mine === undefined || order < 0) return false;
    // etcd was restored: the watcher has reached the version of an Outcome, and has an older object.
    if (order > 0 && compareResourceVersions(mine.resourceVersion, published) <= 0) return false;
  }
  return [...byName.values()].every(({ resourceVersion }) => compareResourceVersions(resourceVersion, published) > 0);
}

/**
 * Whether a resync is missing: the state is incomplete, but the watcher publishes a digest of a Service that has content,
 * so it believes the state to be complete. The resync request or the snapshot was lost.
 *
 * Endpoints alone need no snapshot: nothing is decided for them unless they are to be deleted with their Service.
 */
export function awaitsSnapshot({ snapshot, orphaned }: ServiceState, { digest }: Change): boolean {
  if (digest === undefined || snapshot.complete || snapshot.open !== null) return false;
  const { service, pods, topology, endpoints, slices } = digest;
  if (service !== '' || pods !== '' || topology !== '' || slices.length > 0) return true;
  return orphaned && endpoints.length > 0;
}

function factsOf(state: ServiceState): readonly Fact[] {
  const { service, topology, endpoints } = state;
  return [
    { kind: 'service', service: service?.service ?? null },
    { kind: 'topology', topology },
    ...[...state.pods].map(([name, { pod, node }]): Fact => ({ kind: 'pod', name, pod, node })),
    { kind: 'endpoints', endpoints: endpoints?.endpoints ?? null, uid: '' },
    ...[...state.slices].map(([name, { slice }]): Fact => ({ kind: 'slice', name, slice, uid: '' })),
  ];
}

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
