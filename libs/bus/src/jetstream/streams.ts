import { JetStreamApiError, type JetStreamManager, type StreamConfig } from '@nats-io/jetstream';
import { BusSetupError } from './errors.ts';
import type { Settings } from './options.ts';
import { hasOtherPartitions, type LogName, logNames, streamConfig, streamMismatches } from './stream-config.ts';

const subjectsOverlap = 10065;
const nameInUse = 10058;

/**
 * Creates missing streams of the fleet and checks existing ones. Never alters a stream.
 *
 * @throws BusSetupError `BUS_OTHER_PARTITIONS`, `BUS_STREAM_MISMATCH` or `BUS_STREAM_REFUSED`
 */
export async function ensureStreams(jsm: JetStreamManager, settings: Settings): Promise<void> {
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
