import { backoffMs, type Clock, type Logger, type Random, sleep } from '@sluice/platform';

/**
 * Transient error codes: the server is down, frozen or loading, or refuses writes, as after a failover. Misconfiguration is
 * not transient.
 */
const transientCodes: ReadonlySet<unknown> = new Set([
  'UNREACHABLE',
  'TIMEOUT',
  'FULL',
  'NO_REPLICAS',
  'BUS_UNREACHABLE',
  'BUS_TOO_FEW_BROKERS',
]);

const retry = { baseMs: 500, maxMs: 10_000 };

interface Ports {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/**
 * Opens bus and store, retrying transient errors without limit: roles survive long outages, so they also start during one.
 * Returns undefined if stopped first. Throws errors that are not transient.
 */
export async function retryUntilConnected<T>(
  open: () => Promise<T>,
  { clock, random, logger }: Ports,
  stopped: Promise<void>,
): Promise<T | undefined> {
  const stopping = new AbortController();
  void stopped.then(() => stopping.abort());
  let reported = '';
  for (let failures = 0; !stopping.signal.aborted; failures += 1) {
    try {
      const opened = await Promise.race([open(), stopped.then(() => undefined)]);
      if (reported !== '' && opened !== undefined) logger.info('bus and store available');
      return opened;
    } catch (error) {
      if (!isTransient(error)) throw error;
      const delayMs = Math.round(backoffMs(retry, failures, random));
      const { message: reason } = error;
      // One line per reason, however long it lasts.
      logger[reason === reported ? 'debug' : 'warn']('bus or store unavailable; retrying', { reason, delayMs });
      reported = reason;
      await sleep(clock, delayMs, stopping.signal);
    }
  }
  return undefined;
}

function isTransient(error: unknown): error is Error {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && transientCodes.has(cause.code);
}
