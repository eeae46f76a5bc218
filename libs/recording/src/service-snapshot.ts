import { controllers } from '@sluice/controllers';
import type { Change, Fact, SimilarPods } from '@sluice/messages';
import type { ServiceState } from '@sluice/service-state';

/** How long the Outcome of a plan is waited for, in milliseconds. It may be lost. */
const maxPlanMs = 60_000;

/**
 * The state of a Service as a Change from which a read can begin. It has the stamp of the last Change, so where the state is known
 * already it has no effect. Undefined while something is about to follow without which the state would be misread: the rest of a
 * snapshot or of a batch, the Outcome of a plan, or the watch event of an object that only an Outcome has shown.
 */
export function snapshotOf(
  state: ServiceState,
  { similarPods, now }: { readonly similarPods: SimilarPods | undefined; readonly now: number },
): Change | undefined {
  const { open, complete, partial, stamp, resourceVersions, unwatched } = state.snapshot;
  const written = [...state.slices.values(), ...(state.endpoints === null ? [] : [state.endpoints])];
  const isSettled = complete && open === null && !partial && written.every((object) => object.stamp !== null);
  const isWriting = controllers.some((controller) => {
    const { inFlight } = state.controller(controller);
    return inFlight !== null && now - inFlight.message.decidedAt < maxPlanMs;
  });
  if (!isSettled || isWriting) return undefined;
  return {
    kind: 'change',
    key: state.key,
    stamp,
    facts: factsOf(state, similarPods),
    resourceVersions,
    snapshot: { first: true, last: true, initial: false, resourceVersions, ...(unwatched && { unwatched }) },
    causes: { first: [{ description: 'snapshot of the recorder', observedAt: now }], more: 0 },
  };
}

function factsOf(state: ServiceState, similarPods: SimilarPods | undefined): readonly Fact[] {
  const { service, endpoints, topology } = state;
  return [
    ...(service?.service
      ? [{ kind: 'service', service: service.service, ...(similarPods && { similarPods }) } as const]
      : []),
    ...(topology === null ? [] : [{ kind: 'topology', topology } as const]),
    ...[...state.pods].map(([name, { pod, node }]) => ({ kind: 'pod', name, pod, node }) as const),
    ...(endpoints === null
      ? []
      : [{ kind: 'endpoints', endpoints: endpoints.endpoints, uid: uidOf(endpoints.endpoints) } as const]),
    ...[...state.slices].map(([name, { slice }]) => ({ kind: 'slice', name, slice, uid: uidOf(slice) }) as const),
  ];
}

const uidOf = ({ metadata }: { readonly metadata: { readonly uid?: string } }): string => metadata.uid ?? '';
