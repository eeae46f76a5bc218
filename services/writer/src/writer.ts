import { keepRunning } from '@sluice/runtime';
import { isFencedError } from '@sluice/store';
import { LaneWorker, type LaneWorkerOptions } from './lane-worker.ts';

export interface WriterOptions extends Omit<LaneWorkerOptions, 'partition'> {
  /** The lanes (partitions of `mutations`) that this process owns. */
  readonly partitions: readonly number[];
}

/**
 * Works its lanes side by side until `signal` aborts and what was under way is done. A lane that fails starts again from
 * the store while the others go on; one that was taken over is left to its new owner.
 */
export async function runWriter(options: WriterOptions, signal: AbortSignal): Promise<void> {
  await Promise.all(
    options.partitions.map(async (partition) => {
      const logger = options.logger.with({ lane: partition });
      try {
        const work = () => new LaneWorker({ ...options, logger, partition }).run(signal);
        await keepRunning(work, { ...options, logger, giveUp: isFencedError }, signal);
      } catch (error) {
        if (!isFencedError(error)) throw error;
        logger.warn('lane has a new owner', { reason: error.message });
      }
    }),
  );
}
