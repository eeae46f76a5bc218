import { backoffMs, type Clock, type Logger, orAborted, type Random, sleep } from '@sluice/platform';

interface KeptServer {
  readonly name: string;
  /** Resolves when the program has exited that runs now. */
  readonly ended: () => Promise<void>;
  /** Starts it again, with the same address and data. */
  readonly restart: () => Promise<void>;
}

interface Ports {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Starts a server again each time it exits, until `signal` aborts. */
export async function keepRunning(
  { name, ended, restart }: KeptServer,
  { clock, random, logger }: Ports,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; (await orAborted(ended(), signal)) !== 'aborted'; ) {
    logger.warn('server exited; starting it again', { server: name });
    try {
      await restart();
      failures = 0;
      logger.info('server started again', { server: name });
    } catch (error) {
      logger.error('cannot start server; trying again', { server: name, error });
      await sleep(clock, backoffMs({ baseMs: 500, maxMs: 30_000 }, failures++, random), signal);
    }
  }
}
