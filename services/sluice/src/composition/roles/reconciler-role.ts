import { deadLetter, own, partitionScopes, type RoleOptions } from '@sluice/fleet/roles';
import { reconcilerMetrics, workPartition } from '@sluice/reconciler';
import type { Settings } from '@sluice/service-state';
import { partitionLag } from '@sluice/telemetry';

interface ReconcilerRoleOptions extends RoleOptions {
  readonly settings: Settings;
}

/**
 * Most records lead to no plan. Their offset is committed with the next plan, but at most this much later, in
 * milliseconds, together with other partitions. After a crash, the next owner repeats that much work.
 */
const commitIntervalMs = 1_000;

/** Longer than the hour in which watchers compare the digests of all Services, in milliseconds. */
const probeAfterMs = 2 * 3_600_000;

/** Reconciles this process's share of the partitions. */
export function runReconcilerRole({ metrics, ...options }: ReconcilerRoleOptions, signal: AbortSignal): Promise<void> {
  const reconcilerMetricsOption = metrics && { metrics: reconcilerMetrics(metrics, options.clock) };
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
        const hooks = { ...reconcilerMetricsOption, onDeadLetter, onCheckpoint };
        try {
          await workPartition(
            { ...options, ...hooks, commitIntervalMs, probeAfterMs, store, partition, fencingToken, isCurrent },
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
