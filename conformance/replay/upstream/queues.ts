import type { Controller } from '@sluice/model';
import { type Moment, pendingDelay } from '@sluice/service-state';

const ofSlices = { baseMs: 1000, maxMs: 1_000_000 };
/** The rate limiters of upstream's queues (B3). */
const backoff: Readonly<Record<Controller, { readonly baseMs: number; readonly maxMs: number }>> = {
  endpoints: { baseMs: 5, maxMs: 1_000_000 },
  endpointslice: ofSlices,
  endpointslicemirroring: { baseMs: 1000, maxMs: 100_000 },
};

/** When a key is retried (B3). An earlier time that is already queued is kept (B2). */
export function retryTime({ controller, state, now }: Moment): number {
  const { baseMs, maxMs } = backoff[controller] ?? ofSlices;
  return Math.min(pendingDelay(state.timers, now), now + Math.min(maxMs, baseMs * 2 ** state.retries.failures));
}

/** Adding a key immediately does not cancel its delayed addition (B2). */
export function dueAfterDecision({ state, now }: Moment): number | null {
  const at = pendingDelay(state.timers, now);
  return at < Number.POSITIVE_INFINITY ? at : null;
}
