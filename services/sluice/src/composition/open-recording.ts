import { existsSync } from 'node:fs';
import { type ClusterView, History } from '@sluice/console';
import { parseServiceKey } from '@sluice/messages';
import { type Clock, errorMessage } from '@sluice/platform';
import { UsageError } from '@sluice/platform/process';
import { Playback, questionsTo, type Recording, RecordingReader } from '@sluice/recording';

export interface OpenedRecording {
  readonly history: History;
  readonly recording: Recording;
  readonly clusters: readonly ClusterView[];
  /** When it begins and ends, in milliseconds since the Unix epoch. */
  readonly period: { readonly from: number; readonly to: number };
  /** Names, addresses, labels and texts are pseudonyms. */
  readonly isRedacted: boolean;
  /** The Kubernetes objects at a time, and their changes from then on. */
  readonly play: (time: number) => Playback;
  close(): void;
}

interface OpenOptions {
  readonly clock: Clock;
  readonly onProgress: (read: number, services: number) => void;
  /** Called once for each file or part of a file that cannot be read, now or later, with the reason for people. */
  readonly onUnreadable: (reason: string) => void;
}

/** Opens a recording without the clusters that it is of. Its last state takes the place of the present. */
export async function openRecording(
  path: string,
  { clock, onProgress, onUnreadable }: OpenOptions,
): Promise<OpenedRecording> {
  const reader = new RecordingReader(path, onUnreadable);
  const { coverage, period } = coverageOf(path, reader);
  const history = new History({ clock, maxBytes: Number.POSITIVE_INFINITY, retentionMs: Number.POSITIVE_INFINITY });
  const services = reader.servicesAt(period.to);
  const clusterNames = reader.clusterNames();
  for (const [i, key] of services.entries()) {
    if (i % servicesPerProgress === 0) {
      onProgress(i, services.length);
      await new Promise((resolve) => setImmediate(resolve));
    }
    // From the last snapshot on: the present. The past is read when it is asked for.
    const { records } = reader.records(key, { since: period.to, until: Number.MAX_SAFE_INTEGER, records: 1 });
    for (const { topic, receivedAt, traceparent, payload } of records) {
      const headers = traceparent === undefined ? {} : { traceparent };
      history.add(topic, 0, { key, id: '', headers, payload }, receivedAt);
    }
  }
  const identities = new Set(services.map((key) => parseServiceKey(key).cluster));
  return {
    history,
    clusters: [...identities].map((identity) =>
      clusterView(identity, clusterNames.get(identity) ?? identity, period.to),
    ),
    recording: { ...questionsTo(reader), coverage: async () => coverage },
    period,
    isRedacted: coverage.isRedacted,
    play: (time) => new Playback(reader, time),
    close: () => reader.close(),
  };
}

const servicesPerProgress = 50;

/** @throws UsageError if the path contains no recording */
export function coverageOf(path: string, reader: RecordingReader) {
  if (!existsSync(path)) throw new UsageError(`there is no recording at ${path}; "sluice observe" makes one`);
  try {
    const coverage = reader.coverage();
    const [first, last] = [coverage.periods[0], coverage.periods.at(-1)];
    if (first !== undefined && last !== undefined) return { coverage, period: { from: first.from, to: last.to } };
    const unreadable = coverage.unreadable.map((one) => `\n${one}`);
    throw new UsageError(`${path} contains no recording of sluice${unreadable.join('')}`);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`cannot open ${path}: ${errorMessage(error)}`);
  }
}

/** What is shown is from the end of the recording. */
const clusterView = (identity: string, name: string, endedAt: number): ClusterView => ({
  ...{ identity, name, version: '', server: '', state: 'recorded' },
  outage: { since: endedAt, reason: 'the recording ends', answers: false },
});
