import {
  type Change,
  type Digest,
  digestFacts,
  digestVersion,
  type Fact,
  type ObjectReference,
} from '@sluice/messages';
import { compareResourceVersions } from '@sluice/model';
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
 * Endpoints alone need no snapshot: nothing is decided for them unless they are to be deleted with their Service. A watcher that is behind still
 * publishes those that this Service had, after Sluice has deleted them and forgotten the Service.
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
