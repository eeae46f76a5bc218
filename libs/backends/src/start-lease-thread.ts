import { Worker } from 'node:worker_threads';
import type { LeaseThreadMessage, StartLeaseThread } from '@sluice/store-redis';

/** Enough for a Redis client; the default heap would grow to hundreds of megabytes before it is collected. */
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 };

/** Starts the lease thread as a worker. A bundle replaces the URL by that of its own file. */
export const startLeaseThread: StartLeaseThread = (options, { onMessage, onFailure }) => {
  const worker = new Worker(new URL('./lease-thread-worker.ts', import.meta.url), {
    workerData: options,
    resourceLimits,
  });
  let failure: unknown;
  worker.on('message', (message: LeaseThreadMessage) => onMessage(message));
  worker.on('error', (error: unknown) => {
    failure = error;
  });
  worker.on('exit', (code) => onFailure(failure ?? new Error(`exit status ${code}`)));
  // Leases outlive no process; the thread must not keep it running.
  worker.unref();
  return {
    send: (request) => worker.postMessage(request),
    terminate: () => void worker.terminate(),
  };
};
