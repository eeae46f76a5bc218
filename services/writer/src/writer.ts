import { runWithBackoff } from '@sluice/runtime';
import { isFencedError } from '@sluice/store';
import { LaneWorker } from './lane-worker.ts';
import type { LaneWorkerOptions } from './lane-worker-options.ts';

export interface WriterOptions extends Omit<LaneWorkerOptions, 'partition'> {
  /** The lanes (partitions of `mutations`) that this process owns. */
  readonly partitions: readonly number[];
}

/**
 * Works a lane until `signal` aborts and what was under way is done, starting again from the store when it fails. Throws
 * FencedError when the store is ahead of it: under this epoch nothing can be done for the lane any more.
 */
export async function workLane(options: LaneWorkerOptions, signal: AbortSignal): Promise<void> {
  const logger = options.logger.with({ lane: options.partition });
  const work = () => new LaneWorker({ ...options, logger }).run(signal);
  await runWithBackoff(work, { ...options, logger, isFatal: isFencedError }, signal);
}

/**
 * Works its lanes side by side until `signal` aborts. One that fails starts again while the others go on; one that was
 * taken over is left to its new owner.
 */
export async function runWriter(options: WriterOptions, signal: AbortSignal): Promise<void> {
  await Promise.all(
    options.partitions.map(async (partition) => {
      try {
        await workLane({ ...options, partition }, signal);
      } catch (error) {
        if (!isFencedError(error)) throw error;
        options.logger.warn('lane has a new owner', { lane: partition, reason: error.message });
      }
    }),
  );
}
