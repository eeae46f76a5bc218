import { countAddresses, endpointsWriter, type Mutation } from '@sluice/controllers';
import type { PlannedMutations } from '@sluice/messages';

/** Cost of an endpoint in a write, and of the write itself, in milliseconds of delay. */
const endpointMs = 1;
const requestMs = 10;
/** Delay of Endpoints relative to slices, because traffic follows slices. */
const endpointsMs = 500;
/** Caps for the delay and for the waiting time. The latter bounds the effect of clock skew. */
const maxDelayMs = 10_000;
const maxWaitMs = 60_000;

/**
 * Priority of a plan's requests among those of its cluster; the lowest value goes first. It is the time of the plan's
 * earliest cause plus a delay that grows with the plan's size. A small change passes a slightly older large one, but no
 * plan starves: changes more than `maxDelayMs` newer come after it.
 */
export function writePriority(plan: PlannedMutations, now: number): number {
  const since = Math.min(now, Math.max(now - maxWaitMs, plan.causes.first[0]?.observedAt ?? now));
  const sizeMs = plan.groups.reduce((sum, { mutations }) => sum + mutations.reduce((ms, m) => ms + costMs(m), 0), 0);
  const lessUrgentMs = plan.controller === endpointsWriter ? endpointsMs : 0;
  return since + Math.min(maxDelayMs, sizeMs + lessUrgentMs);
}

function costMs(mutation: Mutation): number {
  return requestMs + endpointMs * endpointsIn(mutation);
}

function endpointsIn(mutation: Mutation): number {
  if (mutation.verb === 'delete') return 0;
  if (mutation.resource === 'endpointslices') return mutation.object.endpoints?.length ?? 0;
  return countAddresses(mutation.object.subsets ?? []);
}
