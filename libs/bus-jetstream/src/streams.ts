import { JetStreamApiError, type JetStreamManager, type StreamConfig } from '@nats-io/jetstream';
import { BusSetupError } from './errors.ts';
import type { Settings } from './options.ts';
import { type LogName, logNames, misfits, streamConfig } from './stream-config.ts';

const subjectsOverlap = 10065;
const nameInUse = 10058;

/**
 * Sees that every stream of the fleet is there: makes those that are missing and checks the others, never changes one.
 *
 * @throws BusSetupError `BUS_STREAM_MISFIT` or `BUS_STREAM_REFUSED`
 */
export async function ensureStreams(jsm: JetStreamManager, settings: Settings): Promise<void> {
  const found = new Map<string, StreamConfig>();
  for await (const { config } of jsm.streams.list(`${settings.fleet}.>`)) found.set(config.name, config);
  const complaints: string[] = [];
  const wanted = logNames(settings.partitions).map((log) => streamConfig(settings, log));
  for (const config of wanted) {
    const existing = found.get(config.name);
    if (existing === undefined) continue;
    for (const line of misfits(config, existing)) complaints.push(`stream ${config.name}: ${line}`);
  }
  if (complaints.length > 0) throw misfit(complaints);
  const made = await Promise.allSettled(
    wanted.filter(({ name }) => !found.has(name)).map((config) => make(jsm, config)),
  );
  // Of several refusals the first one by name, and not the one that happens to come first.
  for (const one of made) if (one.status === 'rejected') throw one.reason;
}

/** Makes one log anew if it is gone; the same as at the start. */
export async function ensureStream(jsm: JetStreamManager, settings: Settings, log: LogName): Promise<void> {
  await make(jsm, streamConfig(settings, log));
}

async function make(jsm: JetStreamManager, config: ReturnType<typeof streamConfig>): Promise<void> {
  try {
    // The answer to one that another process has just made, with the same settings, is success.
    await jsm.streams.add(config);
  } catch (error) {
    if (!(error instanceof JetStreamApiError)) throw error;
    if (error.code === nameInUse) throw misfit(await nowThere(jsm, config));
    const overlap = error.code === subjectsOverlap ? await overlapping(jsm, config) : '';
    const reason = `stream ${config.name} cannot be made: ${error.message}${overlap}`;
    throw new BusSetupError('BUS_STREAM_REFUSED', reason, error);
  }
}

async function nowThere(jsm: JetStreamManager, config: ReturnType<typeof streamConfig>): Promise<readonly string[]> {
  const { config: existing } = await jsm.streams.info(config.name);
  return misfits(config, existing).map((line) => `stream ${config.name}: ${line}`);
}

async function overlapping(jsm: JetStreamManager, config: ReturnType<typeof streamConfig>): Promise<string> {
  const [subject = ''] = config.subjects ?? [];
  for await (const name of jsm.streams.names(subject)) return `; its subject ${subject} belongs to stream ${name}`;
  return '';
}

/** With 64 partitions, one wrong setting makes many lines; the first ones tell it all. */
const shownComplaints = 5;

function misfit(complaints: readonly string[]): BusSetupError {
  const more = complaints.length - shownComplaints;
  const lines = [...complaints.slice(0, shownComplaints), ...(more > 0 ? [`and ${more} more`] : [])];
  const advice = 'Change the streams (nats stream edit) or the settings of Sluice; it never changes a stream itself.';
  return new BusSetupError('BUS_STREAM_MISFIT', `${lines.join('\n')}\n${advice}`);
}
