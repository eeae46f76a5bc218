import { JetStreamApiError, type JetStreamManager } from '@nats-io/jetstream';
import { PermissionViolationError, RequestError, TimeoutError } from '@nats-io/nats-core';
import { backoffMs, errorMessage, sleep } from '@sluice/platform';
import { BusSetupError } from './errors.ts';
import type { NatsLink } from './link.ts';
import type { JetStreamBusPorts, Settings } from './options.ts';
import { ensureStreams } from './streams.ts';

const retry = { baseMs: 100, maxMs: 2000 };

/** JetStream not enabled; JetStream not enabled for account. */
const notEnabled: readonly number[] = [10076, 10039];
const unavailable = 503;

/**
 * Creates and checks the streams. Waits for a JetStream that is starting: a cluster has no leader at first.
 *
 * @throws BusSetupError `BUS_NO_JETSTREAM`, `BUS_FORBIDDEN`, `BUS_STREAM_MISMATCH`, `BUS_STREAM_REFUSED`
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
      const forbidden = toForbiddenError(error);
      if (forbidden !== undefined) {
        // Only the reconciler's user may create streams.
        if (!isStreamCreation(error) || clock.monotonic() > deadline) throw forbidden;
        if (attempt === 0) logger.info('waiting for another role to create the streams');
      } else {
        if (isNotEnabled(link, error)) throw noJetStreamError(link, error);
        if (!isTemporary(error)) throw error;
        if (clock.monotonic() > deadline) throw error instanceof BusSetupError ? error : noJetStreamError(link, error);
        if (attempt === 0) logger.warn('JetStream not ready; retrying', { error });
      }
      await sleep(clock, backoffMs(retry, attempt, random));
    }
  }
}

function toForbiddenError(error: unknown): BusSetupError | undefined {
  const violation = permissionViolation(error);
  if (violation === undefined) return undefined;
  const { operation, subject } = violation;
  return new BusSetupError(
    'BUS_FORBIDDEN',
    `NATS denies permission to ${operation} "${subject}"; docs/guides/nats.md lists the required permissions`,
  );
}

function isStreamCreation(error: unknown): boolean {
  return permissionViolation(error)?.subject.startsWith('$JS.API.STREAM.CREATE.') === true;
}

function permissionViolation(error: unknown): PermissionViolationError | undefined {
  const violation = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return violation instanceof PermissionViolationError ? violation : undefined;
}

function isNotEnabled(link: NatsLink, error: unknown): boolean {
  if (error instanceof JetStreamApiError) return notEnabled.includes(error.code);
  return hasNoResponders(error) && link.nc.info?.jetstream !== true;
}

function isTemporary(error: unknown): boolean {
  if (error instanceof BusSetupError) return isTemporary(error.cause);
  if (error instanceof JetStreamApiError) return error.status === unavailable;
  return error instanceof TimeoutError || hasNoResponders(error);
}

/** No server answers requests to the JetStream API. */
function hasNoResponders(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof RequestError && error.cause.isNoResponders();
}

function noJetStreamError(link: NatsLink, error: unknown): BusSetupError {
  const reason = errorMessage(error);
  const message = `JetStream is not available on NATS at ${link.nc.getServer()}: ${reason}. Enable it in the server configuration.`;
  return new BusSetupError('BUS_NO_JETSTREAM', message, error);
}
