import type { Logger } from '../index.ts';
import { systemClock } from './system.ts';

/** Every exit status of `sluice`; docs/reference/cli.md says what each means. */
export const exitStatus = { success: 0, failure: 1, usage: 2, interrupted: 130, terminated: 143 } as const;

/**
 * Invalid arguments, configuration or environment. The message says what is wrong, where, and what to do; the process
 * exits with status 2.
 */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly code = 'USAGE';
}

export function isUsageError(error: unknown): error is UsageError {
  return error instanceof Error && 'code' in error && error.code === 'USAGE';
}

interface StopSignal {
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
