import { type Controller, type DecisionPolicy, defaultPolicy, endpointSliceTracker } from '@sluice/controllers';
import { isMirrored, type ReconcilerPolicy, requestDecision, type ServiceState, slicesOf } from '@sluice/service-state';
import { noticedAtEnd, noticedBy, sliceDelayMs } from '@sluice/shadow';
import { holdsAsMany } from './mirrored-endpoints.ts';
import { dueAfterDecision, retryTime as retryAt } from './queues.ts';
import { recycleByName } from './recycling-by-name.ts';

/**
 * Upstream's behaviour where Sluice deviates from it (docs/reference/deviations.md), for runs that are compared with
 * recordings. Updates without effect (K5) are sent only where requests fail.
 */
export function upstreamPolicy({ sendsAllUpdates }: { readonly sendsAllUpdates: boolean }): ReconcilerPolicy {
  const decisions: DecisionPolicy = { ...defaultPolicy, hasContent: holdsAsMany, recycle: recycleByName };
  return {
    decisions: sendsAllUpdates ? { ...decisions, isNoOp: () => false } : decisions,
    affected: noticedBy,
    affectedBySnapshot: noticedAtEnd,
    requestRepair: ({ controller, state, now }, batchPeriodMs, causes) =>
      requestDecision(state, now + sliceDelayMs(controller, batchPeriodMs), causes, now),
    isStale,
    dueAfterDecision,
    provesByGeneration: false,
    writeCooldownMs: () => 0,
    retriesIncomplete: true,
    parksRejected: false,
    retryAt,
  };
}

/**
 * C20, C21. Slices being deleted count as missing for the EndpointSlice controller (E10), but not for mirroring (H8),
 * which cleans up regardless of the tracker (H6).
 */
function isStale(view: ServiceState, controller: Controller): boolean {
  if (controller === 'endpoints') return false;
  const { tracked } = view.controller(controller);
  const listed = slicesOf(view, controller);
  if (controller === 'endpointslice') {
    return endpointSliceTracker.staleSlices(
      tracked,
      listed.filter(({ metadata }) => !metadata.deletionTimestamp),
    );
  }
  return isMirrored(view) && endpointSliceTracker.staleSlices(tracked, listed);
}
