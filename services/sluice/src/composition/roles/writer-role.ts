import { sleep } from '@sluice/runtime';
import { defaultRetry, type PlanPartitionWorkerOptions, type RetryOptions, runPlanPartition } from '@sluice/writer';
import { partitionLag } from '../telemetry/partition-lag.ts';
import { deadLetter } from './dead-letter.ts';
import { own, partitionScopes, type RoleOptions } from './role.ts';

export interface WriterRoleOptions extends RoleOptions, Pick<PlanPartitionWorkerOptions, 'cluster' | 'onOutcome'> {
  readonly retry?: RetryOptions;
  /** Aborts requests that are under way; until then a lane that is handed over waits for them, but for a second only. */
  readonly requests: AbortSignal;
  /** Told of each lane that begins to be worked here (1), and of each that ends (-1). */
  readonly onLane?: (change: 1 | -1) => void;
}

/**
 * How long a lane that is handed over waits for answers, in milliseconds. One cluster that does not answer must not keep the
 * plans of all others from the next owner, who repeats what was under way.
 */
const handoverMs = 1_000;

/** Applies the plans of this process's share of the lanes. */
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
        const told = { onDeadLetter, onCheckpoint };
        options.onLane?.(1);
        const given = new AbortController();
        const giveUp = () => void sleep(options.clock, handoverMs, given.signal).then(() => given.abort());
        signal.addEventListener('abort', giveUp, { once: true });
        const requestSignal = AbortSignal.any([options.requests, given.signal]);
        try {
          await runPlanPartition(
            { ...options, ...told, requestSignal, retry, store, partition, fencingToken, isCurrent },
            signal,
          );
        } finally {
          signal.removeEventListener('abort', giveUp);
          given.abort();
          lag.close();
          options.onLane?.(-1);
        }
      },
    },
    signal,
  );
}
