import { existsSync } from 'node:fs';
import { isServiceKey } from '@sluice/messages';
import type { Logger } from '@sluice/platform';
import { filesIn } from './file-names.ts';
import type { RecordedPeriod } from './queries.ts';
import { RecordConverter } from './record-converter.ts';
import { RecordingDirectory } from './recording-directory.ts';
import type { KeyedRecord } from './recording-file.ts';
import type { RecordingReader } from './recording-reader.ts';
import type { NewRecord } from './records.ts';

export interface ExportOptions {
  /** Where the new recording is written. */
  readonly directory: string;
  readonly period: RecordedPeriod;
  /** Whether a Service is exported, by formatted key. */
  readonly isWanted: (key: string) => boolean;
  /** Of the program. */
  readonly version: string;
  readonly logger: Logger;
}

export interface Exported {
  readonly services: number;
  readonly records: number;
}

const batch = 500;
const unlimited = { maxBytes: Number.POSITIVE_INFINITY, retentionMs: Number.POSITIVE_INFINITY, minFreeBytes: 0 };

/**
 * Writes the part of a recording that is about some Services in a period to a recording of its own. It begins with how they were.
 * Gaps stay gaps.
 *
 * @throws Error with a message for people if the directory cannot be used
 */
export function exportRecording(reader: RecordingReader, options: ExportOptions): Exported {
  const { directory, period, isWanted, version, logger } = options;
  if (existsSync(directory) && filesIn(directory).length > 0) {
    throw new Error(`${directory} already contains a recording; choose another directory`);
  }
  const converter = new RecordConverter(logger);
  const services = new Set<string>();
  let count = 0;
  const convert = ({ key, topic, receivedAt, payload, traceparent }: KeyedRecord): readonly NewRecord[] => {
    const headers = traceparent === undefined ? {} : { traceparent };
    const converted = converter.convert(topic, { key, id: '', headers, payload }, receivedAt);
    if (converted === undefined) return [];
    if (isServiceKey(key)) services.add(key);
    count++;
    return [converted];
  };
  const periods = reader.coverage().periods.filter(({ from, to }) => from <= period.to && to >= period.from);
  const isStartRecorded = periods[0] !== undefined && periods[0].from <= period.from;
  const before = isStartRecorded ? recordsBefore(reader, period.from, isWanted) : [];
  const following = wanted(reader.recordsAfter(period.from), isWanted);
  let next = following.next();
  for (const [i, { from, to }] of periods.entries()) {
    const until = Math.min(to, period.to);
    const target = new RecordingDirectory(directory, { limits: unlimited, version });
    for (const [identity, name] of reader.clusterNames()) target.nameCluster(identity, name);
    target.append(i === 0 ? before.flatMap(convert) : [], Math.max(from, period.from));
    for (let pending: NewRecord[] = []; ; ) {
      const record = next.done || next.value.receivedAt > until ? undefined : next.value;
      if (record !== undefined) {
        pending.push(...convert(record));
        next = following.next();
      }
      if (record !== undefined && pending.length < batch) continue;
      target.append(pending, record?.receivedAt ?? until);
      pending = [];
      if (record === undefined) break;
    }
    target.close(until, i === periods.length - 1 ? converter.open : []);
  }
  return { services: services.size, records: count };
}

/** Records from which the Services at a time follow, in the order of their arrival. */
function recordsBefore(
  reader: RecordingReader,
  time: number,
  isWanted: ExportOptions['isWanted'],
): readonly KeyedRecord[] {
  const range = { since: time, until: time, records: 1 };
  return reader
    .servicesAt(time)
    .filter(isWanted)
    .flatMap((key) => reader.records(key, range).records.map((record) => ({ key, ...record })))
    .sort((a, b) => a.receivedAt - b.receivedAt);
}

/** Those of the Services, and removals of clusters. */
function* wanted(records: Iterable<KeyedRecord>, isWanted: ExportOptions['isWanted']): Generator<KeyedRecord> {
  for (const record of records) if (!isServiceKey(record.key) || isWanted(record.key)) yield record;
}
