import { workPartition } from '@sluice/reconciler';
import type { Settings } from '@sluice/service-state';
import { partitionLag } from '../telemetry/partition-lag.ts';
import { reconcilerMetrics } from '../telemetry/reconciler-metrics.ts';
import { deadLetter } from './dead-letter.ts';
import { own, partitionScopes, type RoleOptions } from './role.ts';

export interface ReconcilerRoleOptions extends RoleOptions {
  readonly settings: Settings;
}

/**
 * Most records say that something was written as planned, and lead to nothing. They wait for the next commit of a plan, but
 * not for longer, in milliseconds: who takes over after a crash has so much more to fold.
 */
const commitDelayMs = 100;

/** Longer than the hour within which watchers compare each of their Services, in milliseconds. */
const probeAfterMs = 2 * 3_600_000;

/** Reconciles this process's share of the partitions. */
export function runReconcilerRole({ metrics, ...options }: ReconcilerRoleOptions, signal: AbortSignal): Promise<void> {
  const counting = metrics && { metrics: reconcilerMetrics(metrics, options.clock) };
  return own(
    { ...options, ...(metrics && { metrics }) },
    {
      role: 'reconciler',
      group: 'reconciler',
      scopes: partitionScopes(options.bus),
      work: async ({ scope, fencingToken, signal, isCurrent, started }, store) => {
        const partition = Number(scope);
        const onDeadLetter = deadLetter(options, 'changes', partition);
        const lag = partitionLag(metrics, options, 'changes', partition);
        const onCheckpoint = (offset: number) => {
          started();
          lag.reached(offset);
        };
        const hooks = { ...counting, onDeadLetter, onCheckpoint };
        try {
          await workPartition(
            { ...options, ...hooks, commitDelayMs, probeAfterMs, store, partition, fencingToken, isCurrent },
            signal,
          );
        } finally {
          lag.close();
        }
      },
    },
    signal,
  );
}
