import { keepRunning } from '@sluice/runtime';
import { isFencedError } from '@sluice/store';
import { PartitionWorker, type PartitionWorkerOptions } from './partition-worker.ts';

export interface ReconcilerOptions extends Omit<PartitionWorkerOptions, 'partition'> {
  /** The partitions that this process owns. */
  readonly partitions: readonly number[];
}

/**
 * Works its partitions side by side until `signal` aborts. One that fails starts again from the store while the others
 * go on; one that was taken over is left to its new owner.
 */
export async function runReconciler(options: ReconcilerOptions, signal: AbortSignal): Promise<void> {
  await Promise.all(
    options.partitions.map(async (partition) => {
      const logger = options.logger.with({ partition });
      try {
        const work = () => new PartitionWorker({ ...options, logger, partition }).run(signal);
        await keepRunning(work, { ...options, logger, giveUp: isFencedError }, signal);
      } catch (error) {
        if (!isFencedError(error)) throw error;
        logger.warn('partition has a new owner', { reason: error.message });
      }
    }),
  );
}
