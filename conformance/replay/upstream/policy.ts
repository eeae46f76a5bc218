import { type DecisionPolicy, defaultPolicy, descriptorOf, endpointSliceTracker } from '@sluice/controllers';
import type { Controller } from '@sluice/model';
import { neverStale, type ReconcilerPolicy, requestDecision, type ServiceState, slicesOf } from '@sluice/service-state';
import { affected, noticedAtEnd, sliceDelayMs } from './handlers.ts';
import { holdsAsMany } from './mirrored-endpoints.ts';
import { dueAfterDecision, retryTime as retryAt } from './queues.ts';
import { recycleByName } from './recycling-by-name.ts';

/**
 * Keys of docs/reference/parity.md: upstream's behaviour that a replay can reproduce. The effects of stale caches are
 * not among them, since Sluice has none.
 */
export const deviations = ['C21', 'H15', 'H19', 'E3', 'E15', 'B3', 'B2', 'C19', 'D3', 'E4', 'K5', 'A7'] as const;
export type Deviation = (typeof deviations)[number];

/** The policy of each deviation. `replay-scenario.ts` has the others: resyncs (A7), Nodes (E3) and some retries (B3). */
const policies: Readonly<Partial<Record<Deviation, Partial<ReconcilerPolicy>>>> = {
  B2: { dueAfterDecision },
  B3: { retryAt, parksRejected: false },
  C19: { provesByGeneration: false },
  C21: { isStale },
  D3: { affected, affectedBySnapshot: noticedAtEnd },
  E4: {
    requestRepair: ({ controller, state, now }, batchPeriodMs, causes) =>
      requestDecision(state, now + sliceDelayMs(controller, batchPeriodMs), causes, now),
  },
  E15: { retriesIncomplete: true },
};

const decisions: Readonly<Partial<Record<Deviation, Partial<DecisionPolicy>>>> = {
  H15: { hasContent: holdsAsMany },
  H19: { recycle: recycleByName },
  K5: { isNoOp: () => false },
};

/** Sluice's policy, except for these deviations. */
export function policyWith(reproduced: ReadonlySet<Deviation>): ReconcilerPolicy {
  const chosen = <T>(parts: Readonly<Partial<Record<Deviation, T>>>) =>
    deviations.flatMap((key) => (reproduced.has(key) && parts[key] !== undefined ? [parts[key]] : []));
  return {
    ...Object.assign({}, neverStale, ...chosen(policies)),
    decisions: Object.assign({}, defaultPolicy, ...chosen(decisions)),
  };
}

/**
 * Whether the sync fails because its slices look older than what was written (C20, C21). Slices being deleted count as
 * missing for the EndpointSlice controller (E10), but not for mirroring (H8), which cleans up regardless of the tracker (H6).
 */
function isStale(view: ServiceState, controller: Controller): boolean {
  if (controller === 'endpoints') return false;
  const { tracked } = view.controller(controller).trackers;
  const listed = slicesOf(view, controller);
  if (controller === 'endpointslice') {
    return endpointSliceTracker.staleSlices(
      tracked,
      listed.filter(({ metadata }) => !metadata.deletionTimestamp),
    );
  }
  const [service, endpoints] = [view.service?.service ?? null, view.endpoints?.endpoints ?? null];
  if (descriptorOf(controller).trackers.needsNone?.(service, endpoints)) return false;
  return endpointSliceTracker.staleSlices(tracked, listed);
}
