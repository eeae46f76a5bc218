import type { Logger } from '@sluice/runtime';
import { systemClock } from './system-clock.ts';

export interface StopSignal {
  /** Resolves when it is time to end. */
  readonly stopped: Promise<void>;
  /** Forgets the time that was given. A timer that is still set would keep the process alive after its work is done. */
  cancel(): void;
}

/** SIGINT, SIGTERM or the end of `forMs`. A second signal ends the process at once. */
export function stopSignal(forMs: number | undefined, logger: Logger): StopSignal {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = forMs === undefined ? () => {} : systemClock.schedule(forMs, resolve);
  let asked = false;
  const stop = (signal: NodeJS.Signals) => {
    if (asked) process.exit(signal === 'SIGINT' ? 130 : 143);
    asked = true;
    logger.info('asked to end; asked again it ends at once', { signal });
    resolve();
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return { stopped: promise, cancel };
}
