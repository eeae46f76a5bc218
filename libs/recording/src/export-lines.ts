import { type DescribedRecord, describedRecords } from './described-record.ts';
import { ExportCounter, type Exported } from './export-counter.ts';
import type { Selection } from './exported-records.ts';
import { otlpLogs } from './otlp-logs.ts';
import { rowOf } from './record-row.ts';
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
  const counter = new ExportCounter();
  let pending: DescribedRecord[] = [];
  const flush = () => {
    if (pending.length > 0)
      write(
        `${format === 'otlp' ? otlpLogs(pending, version) : pending.map((one) => JSON.stringify(rowOf(one))).join('\n')}\n`,
      );
    pending = [];
  };
  for (const record of describedRecords(reader, selection)) {
    counter.add(record.key);
    pending.push(record);
    if (pending.length === batch) flush();
  }
  flush();
  return counter.exported;
}
