import { formatServiceKey } from '@sluice/messages';
import { type DescribedRecord, describedRecords } from './described-record.ts';
import type { Exported } from './export-recording.ts';
import type { Selection } from './exported-records.ts';
import { jsonLine } from './json-line.ts';
import { otlpLogs } from './otlp-logs.ts';
import type { RecordingReader } from './recording-reader.ts';

export interface LinesOptions extends Selection {
  readonly format: 'jsonl' | 'otlp';
  /** Of the program. */
  readonly version: string;
  /** Takes each line with its end. */
  readonly write: (line: string) => void;
}

/** Log records in one request of OTLP. */
const batch = 100;

/** Writes the selected records as lines of JSON: one for each record, or one request of OTLP for each batch of them. */
export function exportLines(reader: RecordingReader, { format, version, write, ...selection }: LinesOptions): Exported {
  const services = new Set<string>();
  let count = 0;
  let pending: DescribedRecord[] = [];
  const flush = () => {
    if (pending.length > 0)
      write(`${format === 'otlp' ? otlpLogs(pending, version) : pending.map(jsonLine).join('\n')}\n`);
    pending = [];
  };
  for (const record of describedRecords(reader, selection)) {
    if (record.service !== undefined) services.add(formatServiceKey(record.service));
    count++;
    pending.push(record);
    if (pending.length === batch) flush();
  }
  flush();
  return { services: services.size, records: count };
}
