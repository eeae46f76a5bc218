import type { Mutation } from '@sluice/controllers';
import type { PlannedMutations } from '@sluice/messages';

/** What an endpoint in a write puts it back by, and the write itself, in milliseconds. */
const endpointMs = 1;
const requestMs = 10;
/** Endpoints come after the slices, which traffic follows: where all must wait, by this much. */
const endpointsMs = 500;
/** Nothing is put back by more than this, and nobody is taken to have waited for longer: clocks differ. */
const maxBulkMs = 10_000;
const maxWaitMs = 60_000;

/**
 * When a plan's requests are in turn among those of its cluster: by how long its earliest cause has waited, less the size
 * of the plan. A small change goes before a large one that came a little earlier, yet none waits for ever: what comes
 * later than `maxBulkMs` after it is behind it.
 */
export function turnOf(plan: PlannedMutations, now: number): number {
  const since = Math.min(now, Math.max(now - maxWaitMs, plan.causes.first[0]?.observedAt ?? now));
  const sizeMs = plan.groups.reduce((sum, { mutations }) => sum + mutations.reduce((ms, m) => ms + costMs(m), 0), 0);
  const lessUrgentMs = plan.controller === 'endpoints' ? endpointsMs : 0;
  return since + Math.min(maxBulkMs, sizeMs + lessUrgentMs);
}

function costMs(mutation: Mutation): number {
  return requestMs + endpointMs * endpointsIn(mutation);
}

function endpointsIn(mutation: Mutation): number {
  if (mutation.verb === 'delete') return 0;
  if (mutation.resource === 'endpointslices') return mutation.object.endpoints?.length ?? 0;
  return (mutation.object.subsets ?? []).reduce(
    (sum, { addresses, notReadyAddresses }) => sum + (addresses?.length ?? 0) + (notReadyAddresses?.length ?? 0),
    0,
  );
}
