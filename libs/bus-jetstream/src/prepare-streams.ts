import { JetStreamApiError, type JetStreamManager } from '@nats-io/jetstream';
import { PermissionViolationError, RequestError, TimeoutError } from '@nats-io/nats-core';
import { backoffMs, sleep } from '@sluice/runtime';
import { BusSetupError } from './errors.ts';
import type { NatsLink } from './link.ts';
import type { JetStreamBusPorts, Settings } from './options.ts';
import { ensureStreams } from './streams.ts';

const retry = { baseMs: 100, maxMs: 2000 };

/** `not enabled` and `not enabled for account`. */
const noJetStream: readonly number[] = [10076, 10039];
const unavailable = 503;

/**
 * Sees that the streams are there, and waits for a JetStream that has just started: a cluster has no leader at first.
 *
 * @throws BusSetupError `BUS_NO_JETSTREAM`, `BUS_FORBIDDEN`, `BUS_STREAM_MISFIT`, `BUS_STREAM_REFUSED`
 */
export async function prepareStreams(
  link: NatsLink,
  jsm: JetStreamManager,
  settings: Settings,
  { clock, random, logger }: JetStreamBusPorts,
): Promise<void> {
  const deadline = clock.monotonic() + settings.connectWithinMs;
  for (let attempt = 0; ; attempt++) {
    try {
      return await ensureStreams(jsm, settings);
    } catch (error) {
      const forbidden = asForbidden(error);
      if (forbidden !== undefined) throw forbidden;
      if (offersNone(link, error)) throw refusal(link, error);
      if (!isTemporary(error)) throw error;
      if (clock.monotonic() > deadline) throw error instanceof BusSetupError ? error : refusal(link, error);
      if (attempt === 0) logger.warn('JetStream is not ready yet; waiting for it', { error });
      await sleep(clock, backoffMs(retry, attempt, random));
    }
  }
}

function asForbidden(error: unknown): BusSetupError | undefined {
  const violation = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(violation instanceof PermissionViolationError)) return undefined;
  const { operation, subject } = violation;
  return new BusSetupError(
    'BUS_FORBIDDEN',
    `NATS forbids its user to ${operation} "${subject}"; docs/nats.md lists what Sluice needs`,
  );
}

function offersNone(link: NatsLink, error: unknown): boolean {
  if (error instanceof JetStreamApiError) return noJetStream.includes(error.code);
  return isUnanswered(error) && link.nc.info?.jetstream !== true;
}

function isTemporary(error: unknown): boolean {
  if (error instanceof BusSetupError) return isTemporary(error.cause);
  if (error instanceof JetStreamApiError) return error.status === unavailable;
  return error instanceof TimeoutError || isUnanswered(error);
}

/** Nobody listens for JetStream's requests. */
function isUnanswered(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof RequestError && error.cause.isNoResponders();
}

function refusal(link: NatsLink, error: unknown): BusSetupError {
  const reason = error instanceof Error ? error.message : String(error);
  return new BusSetupError('BUS_NO_JETSTREAM', `NATS at ${link.nc.getServer()} offers no JetStream: ${reason}`, error);
}
