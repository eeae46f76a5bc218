import { Worker } from 'node:worker_threads';
import type { LeaseThread, LeaseThreadMessage, StartLeaseThread } from '@sluice/store/redis';

export type { StartLeaseThread };

/** Enough for a Redis client; the default heap would grow to hundreds of megabytes before it is collected. */
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 };

/** Starts the lease thread as a worker. */
export const startLeaseThread: StartLeaseThread = (...redis) => new PreparedThread().connect(...redis);

/**
 * Starts a thread that loads its modules while this one loads its own; leases wait for it. The returned function connects it to
 * Redis. Further calls, and the first one if the thread has failed, start another thread.
 */
export function prepareLeaseThread(): StartLeaseThread {
  let prepared: PreparedThread | undefined = new PreparedThread();
  return (...redis) => {
    const thread = prepared?.isRunning ? prepared : new PreparedThread();
    prepared = undefined;
    return thread.connect(...redis);
  };
}

class PreparedThread {
  readonly #worker: Worker;
  readonly #exited: Promise<unknown>;
  isRunning = true;

  constructor() {
    // A bundle replaces the URL by that of its own file.
    const worker = new Worker(new URL('./lease-thread-worker.ts', import.meta.url), { resourceLimits });
    let failure: unknown;
    worker.on('error', (error: unknown) => {
      failure = error;
    });
    this.#exited = new Promise((resolve) => {
      worker.on('exit', (code) => {
        this.isRunning = false;
        resolve(failure ?? new Error(`exit status ${code}`));
      });
    });
    // Leases outlive no process; the thread must not keep it running.
    worker.unref();
    this.#worker = worker;
  }

  connect(...[options, { onMessage, onFailure }]: Parameters<StartLeaseThread>): LeaseThread {
    const worker = this.#worker;
    worker.on('message', (message: LeaseThreadMessage) => onMessage(message));
    // A listener for messages keeps the process running.
    worker.unref();
    void this.#exited.then(onFailure);
    worker.postMessage(options);
    return {
      send: (request) => worker.postMessage(request),
      terminate: () => void worker.terminate(),
    };
  }
}
