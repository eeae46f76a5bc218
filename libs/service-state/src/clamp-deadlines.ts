import { decisionOrder } from '@sluice/controllers';
import { type BatchState, maxFreshnessTargetMs } from './adaptive-batch.ts';
import { maxRedeliveryMs } from './redelivery.ts';
import { repairIntervalMs } from './repair.ts';
import type { ServiceState } from './service-state.ts';
import type { Settings } from './settings.ts';
import { maxCooldownMs, maxTopologyDelayMs } from './write-cooldown.ts';

/**
 * Moves deadlines that are further in the future than the longest delay of their kind back to that delay. Such deadlines were
 * set by the clock of another process, or before the system clock was set back; without this, the Service would wait for as
 * long as the clocks differ.
 */
export function clampDeadlines(state: ServiceState, now: number, settings: Settings): void {
  for (const controller of decisionOrder) {
    const before = state.controller(controller);
    const {
      dueAt,
      topologyDueAt = null,
      cooldownUntil,
      delayedUntil,
      repairAt,
      inFlight,
      failures,
      retryAfterMs = 0,
      parked,
    } = before;
    const batchMs = settings.batchPeriodMs[controller] ?? 0;
    const retryMs = failures > 0 ? Math.max(settings.backoff.maxMs, retryAfterMs) : 0;
    const delayMs = Math.max(batchMs, retryMs);
    const maxDueMs =
      parked !== null
        ? 2 * (settings.parkedRetryMs ?? 0)
        : Math.max(delayMs, before.repairing ? repairIntervalMs(before.repairs) : 0);
    const after = {
      dueAt: atMost(dueAt, now + maxDueMs),
      delayedUntil: atMost(delayedUntil, now + delayMs),
      repairAt: atMost(repairAt, now + repairIntervalMs(before.repairs)),
    };
    const batch = before.batch && clampBatch(before.batch, now);
    const topologyAt = atMost(topologyDueAt, now + maxTopologyDelayMs);
    const cooldown = atMost(cooldownUntil ?? null, now + maxCooldownMs);
    const redeliverAt = inFlight && Math.min(inFlight.redeliverAt, now + maxRedeliveryMs(inFlight.redeliveries));
    if (
      after.dueAt === dueAt &&
      after.delayedUntil === delayedUntil &&
      after.repairAt === repairAt &&
      topologyAt === topologyDueAt &&
      cooldown === (cooldownUntil ?? null) &&
      batch === before.batch &&
      redeliverAt === (inFlight?.redeliverAt ?? null)
    ) {
      continue;
    }
    state.setController(controller, {
      ...before,
      ...after,
      ...(topologyAt !== null && { topologyDueAt: topologyAt }),
      ...(cooldown !== null && { cooldownUntil: cooldown }),
      batch,
      inFlight: inFlight && redeliverAt !== null ? { ...inFlight, redeliverAt } : null,
    });
  }
}

/** Without the past, of another clock, the averages start again. */
function clampBatch(batch: BatchState, now: number): BatchState | undefined {
  return batch.until > now + maxFreshnessTargetMs || batch.appliedAt > now ? undefined : batch;
}

const atMost = (at: number | null, limit: number): number | null => (at === null ? null : Math.min(at, limit));
