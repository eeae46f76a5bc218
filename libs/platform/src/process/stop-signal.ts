import type { Logger } from '../index.ts';
import { exitStatus } from './exit-status.ts';
import { systemClock } from './system.ts';

export interface StopSignal {
  /** Resolves when the process should stop. */
  readonly stopped: Promise<void>;
  /** Cancels the timer, which would otherwise keep the process alive. */
  cancel(): void;
}

/** Resolves on SIGINT, SIGTERM or after `forMs` milliseconds. A second signal exits immediately. */
export function stopSignal(forMs: number | undefined, logger: Logger): StopSignal {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = forMs === undefined ? () => {} : systemClock.schedule(forMs, resolve);
  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(signal === 'SIGINT' ? exitStatus.interrupted : exitStatus.terminated);
    stopping = true;
    const how = signal === 'SIGINT' ? 'press Ctrl-C' : 'send SIGTERM';
    logger.info(`stopping; ${how} again to stop immediately`, { signal });
    resolve();
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return { stopped: promise, cancel };
}

/**
 * Exits quietly once the reader of standard output or standard error has closed its end of a pipe, as in `... | head -1`. A
 * process that handles SIGTERM shuts down in order.
 */
export function exitOnClosedPipe(): void {
  let stopping = false;
  const onError = (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    if (stopping) return;
    stopping = true;
    if (process.listenerCount('SIGTERM') > 0) process.emit('SIGTERM', 'SIGTERM');
    else process.exit();
  };
  process.stdout.on('error', onError);
  process.stderr.on('error', onError);
}
