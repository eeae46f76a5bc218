import { backoffMs, type Clock, type Logger, type Random, sleep } from '@sluice/runtime';

/** Codes of what time may mend: a server that is down, frozen, or still loading. Not what somebody has to set right. */
const passing: ReadonlySet<unknown> = new Set(['UNREACHABLE', 'TIMEOUT', 'BUS_UNREACHABLE', 'BUS_TOO_FEW_BROKERS']);

const pause = { baseMs: 500, maxMs: 10_000 };

interface Ports {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/**
 * Opens bus and store, for as long as it takes: who runs on without them for hours need not meet them at its start either.
 * Undefined if it is told to stop before. Throws what waiting does not help against.
 */
export async function retryUntilConnected<T>(
  open: () => Promise<T>,
  { clock, random, logger }: Ports,
  stopped: Promise<void>,
): Promise<T | undefined> {
  const stopping = new AbortController();
  void stopped.then(() => stopping.abort());
  for (let failures = 0; !stopping.signal.aborted; failures += 1) {
    try {
      return await Promise.race([open(), stopped.then(() => undefined)]);
    } catch (error) {
      if (!passes(error)) throw error;
      const delayMs = Math.round(backoffMs(pause, failures, random));
      logger.warn('bus or store unavailable; retrying', { reason: error.message, delayMs });
      await sleep(clock, delayMs, stopping.signal);
    }
  }
  return undefined;
}

function passes(error: unknown): error is Error {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && passing.has(cause.code);
}
