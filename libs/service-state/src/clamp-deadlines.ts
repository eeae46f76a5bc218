import { decisionOrder } from '@sluice/controllers';
import { structurallyEqual } from '@sluice/model';
import { type BatchState, maxFreshnessTargetMs } from './adaptive-batch.ts';
import { maxRedeliveryMs, repairIntervalMs } from './controller-state.ts';
import { maxCooldownMs, maxTopologyDelayMs } from './policy.ts';
import type { ServiceState } from './service-state.ts';
import type { Settings } from './settings.ts';

/**
 * Moves deadlines that are further in the future than the longest delay of their kind back to that delay. Such deadlines were
 * set by the clock of another process, or before the system clock was set back; without this, the Service would wait for as
 * long as the clocks differ.
 */
export function clampDeadlines(state: ServiceState, now: number, settings: Settings): void {
  const within = <T>(at: T, delayMs: number) => (typeof at === 'number' ? Math.min(at, now + delayMs) : at);
  for (const controller of decisionOrder) {
    const before = state.controller(controller);
    const { inFlight, repairs, retries, timers } = before;
    const repairMs = repairIntervalMs(repairs.count);
    const retryMs = retries.failures > 0 ? Math.max(settings.backoff.maxMs, retries.retryAfterMs ?? 0) : 0;
    const delayMs = Math.max(settings.batchPeriodMs[controller] ?? 0, retryMs);
    const dueMs = Math.max(delayMs, repairs.repairing ? repairMs : 0);
    const after = {
      ...before,
      timers: {
        dueAt: within(timers.dueAt, retries.parked === null ? dueMs : 2 * (settings.parkedRetryMs ?? 0)),
        delayedUntil: within(timers.delayedUntil, delayMs),
        topologyDueAt: within(timers.topologyDueAt, maxTopologyDelayMs),
        cooldownUntil: within(timers.cooldownUntil, maxCooldownMs),
        batch: timers.batch && clampBatch(timers.batch, now),
      },
      repairs: { ...repairs, repairAt: within(repairs.repairAt, repairMs) },
      inFlight: inFlight && {
        ...inFlight,
        redeliverAt: within(inFlight.redeliverAt, maxRedeliveryMs(inFlight.redeliveries)),
      },
    };
    if (!structurallyEqual(before, after)) state.setController(controller, after);
  }
}

/** Without the past, of another clock, the averages start again. */
function clampBatch(batch: BatchState, now: number): BatchState | undefined {
  return batch.until > now + maxFreshnessTargetMs || batch.appliedAt > now ? undefined : batch;
}
