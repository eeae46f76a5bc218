import type { Logger } from '@sluice/runtime';
import { exitStatus } from './exit-status.ts';
import { systemClock } from './system-clock.ts';

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
