import { isRecordNotStoredError } from '@sluice/bus';
import { runWithBackoff } from '@sluice/platform';
import { isFencedError } from '@sluice/store';
import { PlanPartitionWorker } from './partition/plan-partition-worker.ts';
import type { PlanPartitionWorkerOptions } from './partition/plan-partition-worker-options.ts';

export interface WriterOptions extends Omit<PlanPartitionWorkerOptions, 'partition'> {
  /** Partitions of topic `mutations` that this process owns. */
  readonly partitions: readonly number[];
}

/**
 * Applies the plans of one partition until `signal` aborts and the work in flight is done. Restarts from the store
 * after a failure.
 *
 * @throws FencedError if the store has seen a higher fencing token, that is, if another process owns the partition
 */
export async function runPlanPartition(options: PlanPartitionWorkerOptions, signal: AbortSignal): Promise<void> {
  const logger = options.logger.with({ partition: options.partition });
  const work = async () => {
    for (;;) {
      try {
        return await new PlanPartitionWorker({ ...options, logger }).run(signal);
      } catch (error) {
        if (!isRecordNotStoredError(error)) throw error;
        // Reachable: plan delivered within the process not stored at its offset
        logger.warn('plan not stored as expected; reading the plan log again', { reason: error.message });
      }
    }
  };
  await runWithBackoff(work, { ...options, logger, isFatal: isFencedError }, signal);
}

/**
 * Applies the plans of all its partitions concurrently until `signal` aborts. A partition that fails restarts on its
 * own; one that was taken over is left to its new owner.
 */
export async function runWriter(options: WriterOptions, signal: AbortSignal): Promise<void> {
  await Promise.all(
    options.partitions.map(async (partition) => {
      try {
        await runPlanPartition({ ...options, partition }, signal);
      } catch (error) {
        if (!isFencedError(error)) throw error;
        options.logger.warn('plan partition taken over by another process', { partition, reason: error.message });
      }
    }),
  );
}
