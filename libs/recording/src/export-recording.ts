import { existsSync } from 'node:fs';
import type { Logger } from '@sluice/platform';
import { ExportCounter, type Exported } from './export-counter.ts';
import { exportedRecords, type Selection } from './exported-records.ts';
import { filesIn } from './file-names.ts';
import { RecordConverter } from './record-converter.ts';
import { RecordingDirectory } from './recording-directory.ts';
import type { KeyedRecord } from './recording-file.ts';
import type { RecordingReader } from './recording-reader.ts';
import type { NewRecord } from './records.ts';

export interface ExportOptions extends Selection {
  /** Where the new recording is written. */
  readonly directory: string;
  /** Of the program. */
  readonly version: string;
  readonly logger: Logger;
}

const batch = 500;
const unlimited = { maxBytes: Number.POSITIVE_INFINITY, retentionMs: Number.POSITIVE_INFINITY, minFreeBytes: 0 };

/**
 * Writes the part of a recording that is about some Services in a period to a recording of its own. It begins with how they were.
 * Gaps stay gaps.
 *
 * @throws Error with a message for people if the directory cannot be used
 */
export function exportRecording(
  reader: RecordingReader,
  { directory, version, logger, ...selection }: ExportOptions,
): Exported {
  if (existsSync(directory) && filesIn(directory).length > 0) {
    throw new Error(`${directory} already contains a recording; choose another directory`);
  }
  const converter = new RecordConverter(logger);
  const counter = new ExportCounter();
  const convert = ({ key, topic, receivedAt, payload, traceparent }: KeyedRecord): readonly NewRecord[] => {
    const headers = traceparent === undefined ? {} : { traceparent };
    const converted = converter.convert(topic, { key, id: '', headers, payload }, receivedAt);
    if (converted === undefined) return [];
    counter.add(key);
    return [converted];
  };
  const { clusterNames, isRedacted, periods } = exportedRecords(reader, selection);
  for (const { from, to, isLast, before, records } of periods) {
    const target = new RecordingDirectory(directory, { limits: unlimited, version, isRedacted });
    for (const [identity, name] of clusterNames) target.nameCluster(identity, name);
    target.append(before.flatMap(convert), from);
    let pending: NewRecord[] = [];
    for (const record of records) {
      pending.push(...convert(record));
      if (pending.length < batch) continue;
      target.append(pending, record.receivedAt);
      pending = [];
    }
    target.append(pending, to);
    target.close(to, isLast ? converter.open : []);
  }
  return counter.exported;
}
