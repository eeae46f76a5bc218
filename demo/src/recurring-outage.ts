import { type Clock, errorMessage, type Logger, sleep } from '@sluice/platform';
import { exactDuration } from '@sluice/platform/process';

export interface RecurringOutageOptions {
  readonly cluster: string;
  readonly stop: () => Promise<void>;
  readonly start: () => Promise<unknown>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How long the API server answers before each outage. */
export const answeringMs = 30_000;
export const outageMs = 20_000;

/** Stops an API server and starts it again, until `signal` aborts. The simulated cluster behind it continues to change. */
export async function repeatOutages(
  { cluster, stop, start, clock, logger }: RecurringOutageOptions,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await sleep(clock, answeringMs, signal);
    if (signal.aborted) return;
    await stop();
    logger.info('simulated API server stopped', { cluster, for: exactDuration(outageMs) });
    await sleep(clock, outageMs, signal);
    if (signal.aborted) return;
    try {
      await start();
    } catch (error) {
      return logger.error('simulated API server cannot be started', { cluster, error: errorMessage(error) });
    }
    logger.info('simulated API server started', { cluster });
  }
}
