import { JetStreamApiError, type JetStreamManager, type StreamConfig } from '@nats-io/jetstream';
import { PermissionViolationError, RequestError, TimeoutError } from '@nats-io/nats-core';
import { backoffMs, errorMessage, sleep } from '@sluice/platform';
import type { NatsLink } from './link.ts';
import { BusSetupError, type JetStreamBusPorts, type Settings } from './options.ts';
import { hasOtherPartitions, type LogName, logNames, streamConfig, streamMismatches } from './stream-config.ts';

const retry = { baseMs: 100, maxMs: 2000 };

/** JetStream not enabled; JetStream not enabled for account. */
const notEnabled: readonly number[] = [10076, 10039];
const unavailable = 503;
/** No suitable peers for placement: too few servers of the cluster are known so far. */
const noPeers = 10005;

/**
 * Creates and checks the streams. Waits for a JetStream that is starting: a cluster has no leader at first, and then not all peers.
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
  if (error instanceof JetStreamApiError) return error.status === unavailable || error.code === noPeers;
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

const subjectsOverlap = 10065;
const nameInUse = 10058;

/**
 * Creates missing streams of the fleet and checks existing ones. Never alters a stream.
 *
 * @throws BusSetupError `BUS_OTHER_PARTITIONS`, `BUS_STREAM_MISMATCH` or `BUS_STREAM_REFUSED`
 */
async function ensureStreams(jsm: JetStreamManager, settings: Settings): Promise<void> {
  const found = new Map<string, StreamConfig>();
  for await (const { config } of jsm.streams.list(`${settings.fleet}.>`)) found.set(config.name, config);
  const mismatches: string[] = [];
  let repartitioned = 0;
  const wanted = logNames(settings.partitions).map((log) => streamConfig(settings, log));
  for (const config of wanted) {
    const existing = found.get(config.name);
    if (existing === undefined) continue;
    for (const line of streamMismatches(config, existing)) mismatches.push(`stream ${config.name}: ${line}`);
    if (hasOtherPartitions(config, existing)) repartitioned++;
  }
  // With other mismatches too, the configuration is wrong in any case.
  if (mismatches.length > 0) throw mismatchError(mismatches, repartitioned === mismatches.length);
  const created = await Promise.allSettled(
    wanted.filter(({ name }) => !found.has(name)).map((config) => create(jsm, config)),
  );
  // Report the first failure by stream name rather than by time, so the error is deterministic.
  for (const result of created) if (result.status === 'rejected') throw result.reason;
}

/** Creates one stream if it is missing. */
export async function ensureStream(jsm: JetStreamManager, settings: Settings, log: LogName): Promise<void> {
  await create(jsm, streamConfig(settings, log));
}

async function create(jsm: JetStreamManager, config: ReturnType<typeof streamConfig>): Promise<void> {
  try {
    // Succeeds if another process has just created the stream with the same settings.
    await jsm.streams.add(config);
  } catch (error) {
    if (!(error instanceof JetStreamApiError)) throw error;
    if (error.code === nameInUse) {
      const { config: existing } = await jsm.streams.info(config.name);
      const lines = streamMismatches(config, existing).map((line) => `stream ${config.name}: ${line}`);
      throw mismatchError(lines, lines.length === 1 && hasOtherPartitions(config, existing));
    }
    const overlap = error.code === subjectsOverlap ? await overlapping(jsm, config) : '';
    const reason = `cannot create stream ${config.name}: ${error.message}${overlap}`;
    throw new BusSetupError('BUS_STREAM_REFUSED', reason, error);
  }
}

async function overlapping(jsm: JetStreamManager, config: ReturnType<typeof streamConfig>): Promise<string> {
  const [subject = ''] = config.subjects ?? [];
  for await (const name of jsm.streams.names(subject)) return `; stream ${name} already has its subject ${subject}`;
  return '';
}

/** With many partitions, one wrong setting causes many lines. */
const maxLines = 5;

function mismatchError(mismatches: readonly string[], otherPartitions: boolean): BusSetupError {
  const more = mismatches.length - maxLines;
  const lines = [...mismatches.slice(0, maxLines), ...(more > 0 ? [`and ${more} more`] : [])];
  const advice = 'Edit the streams (nats stream edit) or the configuration; Sluice does not alter existing streams.';
  const code = otherPartitions ? 'BUS_OTHER_PARTITIONS' : 'BUS_STREAM_MISMATCH';
  return new BusSetupError(code, `${lines.join('\n')}\n${advice}`);
}
