import { runWithBackoff } from '@sluice/runtime';
import { isFencedError } from '@sluice/store';
import { PartitionWorker } from './partition-worker.ts';
import type { PartitionWorkerOptions } from './worker-options.ts';

export interface ReconcilerOptions extends Omit<PartitionWorkerOptions, 'partition'> {
  /** The partitions that this process owns. */
  readonly partitions: readonly number[];
}

/**
 * Works a partition until `signal` aborts, starting again from the store when it fails. Throws FencedError when the store
 * is ahead of it: under this epoch nothing can be done for the partition any more.
 */
export async function workPartition(options: PartitionWorkerOptions, signal: AbortSignal): Promise<void> {
  const logger = options.logger.with({ partition: options.partition });
  let begun = false;
  const work = () => {
    const worker = new PartitionWorker({ ...options, logger, isNewEpoch: !begun });
    begun = true;
    return worker.run(signal);
  };
  await runWithBackoff(work, { ...options, logger, isFatal: isFencedError }, signal);
}

/**
 * Works its partitions side by side until `signal` aborts. One that fails starts again while the others go on; one that
 * was taken over is left to its new owner.
 */
export async function runReconciler(options: ReconcilerOptions, signal: AbortSignal): Promise<void> {
  await Promise.all(
    options.partitions.map(async (partition) => {
      try {
        await workPartition({ ...options, partition }, signal);
      } catch (error) {
        if (!isFencedError(error)) throw error;
        options.logger.warn('partition has a new owner', { partition, reason: error.message });
      }
    }),
  );
}
