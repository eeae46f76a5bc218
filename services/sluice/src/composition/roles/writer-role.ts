import { deadLetter, own, partitionScopes, type RoleOptions } from '@sluice/fleet/roles';
import { partitionLag } from '@sluice/telemetry';
import { defaultRetry, type PlanPartitionWorkerOptions, type RetryOptions, runPlanPartition } from '@sluice/writer';

interface WriterRoleOptions extends RoleOptions, Pick<PlanPartitionWorkerOptions, 'cluster' | 'onOutcome'> {
  readonly retry?: RetryOptions;
  /** Aborts requests in flight. Before that, a partition that is handed over waits for them for at most a second. */
  readonly requests: AbortSignal;
  /** Called with 1 when this process starts to work on a partition, and with -1 when it stops. */
  readonly onPartitionHeld?: (change: 1 | -1) => void;
}

/** How long a partition that is handed over, or whose work has failed, waits for responses, in milliseconds. */
const drainMs = 1_000;

/**
 * Finished plans share a commit, at most this much later, in milliseconds, together with other partitions. After a crash, the
 * next owner reads them again.
 */
const commitIntervalMs = 500;

/** Applies the plans of this process's share of the partitions. */
export function runWriterRole(options: WriterRoleOptions, signal: AbortSignal): Promise<void> {
  const { retry = defaultRetry } = options;
  return own(
    options,
    {
      role: 'writer',
      group: 'writer',
      scopes: partitionScopes(options.bus),
      work: async ({ scope, fencingToken, signal, isCurrent, started }, store) => {
        const partition = Number(scope);
        const onDeadLetter = deadLetter(options, 'mutations', partition);
        const lag = partitionLag(options.metrics, options, 'mutations', partition);
        const onCheckpoint = (offset: number) => {
          started();
          lag.reached(offset);
        };
        const hooks = { onDeadLetter, onCheckpoint };
        options.onPartitionHeld?.(1);
        const requestSignal = options.requests;
        try {
          await runPlanPartition(
            {
              ...options,
              ...hooks,
              commitIntervalMs,
              requestSignal,
              drainMs,
              retry,
              store,
              partition,
              fencingToken,
              isCurrent,
            },
            signal,
          );
        } finally {
          lag.close();
          options.onPartitionHeld?.(-1);
        }
      },
    },
    signal,
  );
}
