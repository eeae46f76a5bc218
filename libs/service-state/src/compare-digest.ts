import { compareResourceVersions } from '@sluice/controllers';
import { type Change, type Digest, digestFacts, digestForm, type Fact, type ObjectReference } from '@sluice/messages';
import type { ServiceState } from './service-state.ts';

/** What of a view may differ from what the watcher knows. */
export type StatePart = 'service' | 'pods' | 'topology' | 'endpoints' | 'slices';

/**
 * The parts of the view that are not what the watcher knows, by the digest in the Change that was folded last. None if
 * nothing can be said: the view is not complete, or newer than the Change.
 */
export function differences(view: ServiceState, { stamp, digest, resourceVersions }: Change): readonly StatePart[] {
  const { complete, open, stamp: last } = view.snapshot;
  if (digest === undefined || digest.form !== digestForm || !complete || open !== null) return [];
  if (last.epoch !== stamp.epoch || last.sequence !== stamp.sequence) return [];
  const own = digestFacts(factsOf(view));
  const hashed = (['service', 'pods', 'topology'] as const).filter((part) => own[part] !== digest[part]);
  const written = (['endpoints', 'slices'] as const).filter((part) => {
    const upTo = resourceVersions?.[part === 'endpoints' ? 'endpoints' : 'endpointslices'] ?? '';
    return !agrees(own[part], digest[part], upTo, view.deletedUids);
  });
  return [...hashed, ...written];
}

/**
 * Outcomes tell of objects before the watcher does: the view may have newer ones, have some that the watcher has not come
 * to yet, and know of some that they are gone.
 */
function agrees(
  own: Digest['slices'],
  told: readonly ObjectReference[],
  upTo: string,
  gone: readonly string[],
): boolean {
  const byName = new Map(own.map((reference) => [reference.name, reference]));
  for (const { name, uid, resourceVersion } of told) {
    const mine = byName.get(name);
    byName.delete(name);
    if (gone.includes(uid)) continue;
    if (mine === undefined || compareResourceVersions(mine.resourceVersion, resourceVersion) < 0) return false;
  }
  return [...byName.values()].every(({ resourceVersion }) => compareResourceVersions(resourceVersion, upTo) > 0);
}

/**
 * Something was lost, and so, it seems, was the request for a snapshot or the snapshot: the watcher takes the view for
 * complete, and something is there to be told.
 */
export function awaitsSnapshot({ snapshot }: ServiceState, { digest }: Change): boolean {
  if (digest === undefined || snapshot.complete || snapshot.open !== null) return false;
  return JSON.stringify(digest) !== JSON.stringify(digestFacts([]));
}

function factsOf(view: ServiceState): readonly Fact[] {
  const { service, topology, endpoints } = view;
  return [
    { kind: 'service', service: service?.service ?? null },
    { kind: 'topology', topology },
    ...[...view.pods].map(([name, { pod, node }]): Fact => ({ kind: 'pod', name, pod, node })),
    { kind: 'endpoints', endpoints: endpoints?.endpoints ?? null, uid: '' },
    ...[...view.slices].map(([name, { slice }]): Fact => ({ kind: 'slice', name, slice, uid: '' })),
  ];
}
