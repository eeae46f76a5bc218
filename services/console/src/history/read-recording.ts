import { formatServiceKey, type ServiceKey } from '@sluice/messages';
import type { RecordedRange, Recording } from '@sluice/recording';
import type { Entry } from '../view/entry-schemas.ts';
import { Journal } from './journal.ts';
import { messageOf, type RetainedRecord } from './retained-record.ts';

export interface RecordedHistory {
  readonly journal: Journal;
  /** When the recorder began to record the Service, if it knew it from before; in milliseconds since the Unix epoch. */
  readonly continuesAt: number | undefined;
  readonly entries: readonly Entry[];
  /** What cannot be read, for people. */
  readonly unreadable: readonly string[];
}

const nothing = { records: [], unreadable: [] };

/** The history of a Service in a range of time; undefined if the recording has none. */
export async function readRecording(
  recording: Recording,
  key: ServiceKey,
  range: RecordedRange,
): Promise<RecordedHistory | undefined> {
  // The coverage says that the recording does not answer. What is in memory is shown.
  const { records, unreadable } = await recording.records(formatServiceKey(key), range).catch(() => nothing);
  const retained = records.map(({ topic, payload: content, ...rest }) => ({ topic, record: { content, ...rest } }));
  const [first] = retained;
  if (first === undefined) return undefined;
  const journal = new Journal(key);
  for (const { topic, record } of retained) journal.add(topic, record);
  const continuesAt = startOf(first.record);
  const entries = journal.entries.filter(({ at }) => continuesAt === undefined || at > continuesAt);
  return { journal, continuesAt, entries, unreadable };
}

/** When the history was continued with a snapshot, which shows what was known before. The first snapshot of a watcher is news. */
function startOf(record: RetainedRecord): number | undefined {
  const message = messageOf(record);
  if (message?.kind !== 'change' || message.snapshot?.initial !== false) return undefined;
  return message.causes.first[0]?.observedAt ?? record.receivedAt;
}
