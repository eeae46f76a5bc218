import { runWithBackoff } from '@sluice/platform';
import { isFencedError } from '@sluice/store';
import { PartitionWorker } from './partition-worker.ts';
import type { PartitionWorkerOptions } from './worker-options.ts';

export interface ReconcilerOptions extends Omit<PartitionWorkerOptions, 'partition'> {
  /** The partitions that this process owns. */
  readonly partitions: readonly number[];
}

/**
 * Runs a partition's worker until `signal` aborts, and again from the store when it fails.
 *
 * @throws FencedError when the partition belongs to a newer fencing token
 */
export async function workPartition(options: PartitionWorkerOptions, signal: AbortSignal): Promise<void> {
  const logger = options.logger.with({ partition: options.partition });
  let isFirstRun = true;
  const work = () => {
    const worker = new PartitionWorker({ ...options, logger, isFirstRun });
    isFirstRun = false;
    return worker.run(signal);
  };
  await runWithBackoff(work, { ...options, logger, isFatal: isFencedError }, signal);
}

/**
 * Runs the workers of all partitions until `signal` aborts. A worker that fails is restarted while the others continue; a
 * partition that was taken over is left to its new owner.
 */
export async function runReconciler(options: ReconcilerOptions, signal: AbortSignal): Promise<void> {
  await Promise.all(
    options.partitions.map(async (partition) => {
      try {
        await workPartition({ ...options, partition }, signal);
      } catch (error) {
        if (!isFencedError(error)) throw error;
        options.logger.warn('partition taken over by a new owner', { partition, reason: error.message });
      }
    }),
  );
}
