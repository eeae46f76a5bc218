import { closeSync, openSync } from 'node:fs';
import { zstdCompressSync } from 'node:zlib';
import { describedRecords } from './described-record.ts';
import { ExportCounter, type Exported } from './export-counter.ts';
import type { Selection } from './exported-records.ts';
import { rowOf } from './record-row.ts';
import type { RecordingReader } from './recording-reader.ts';

interface ParquetOptions extends Selection {
  readonly path: string;
  /** Of the program. */
  readonly version: string;
}

/** In the order of the file. */
const columns = {
  ...({ time: 'TIMESTAMP', cluster: 'STRING', clusterUid: 'STRING', namespace: 'STRING', service: 'STRING' } as const),
  ...({ topic: 'STRING', kind: 'STRING', snapshot: 'BOOLEAN', objects: 'JSON', text: 'STRING' } as const),
  ...({ traceparent: 'STRING', message: 'JSON' } as const),
} as const satisfies Readonly<Record<keyof ReturnType<typeof rowOf>, string>>;

/** Rows that are in memory at a time. */
const rowGroupSize = 2_000;

/**
 * Writes the selected records to a new Parquet file that only its owner can read: a row for each.
 *
 * @throws Error if the file exists or cannot be written
 */
export async function exportParquet(
  reader: RecordingReader,
  { path, version, ...selection }: ParquetOptions,
): Promise<Exported> {
  const { fileWriter, parquetWriteRows } = await import('hyparquet-writer');
  closeSync(openSync(path, 'wx', 0o600));
  const counter = new ExportCounter();
  function* rows() {
    for (const record of describedRecords(reader, selection)) {
      counter.add(record.key);
      yield rowOf(record);
    }
  }
  await parquetWriteRows({
    ...{ writer: fileWriter(path), rows: rows(), rowGroupSize, createdBy: `sluice version ${version}` },
    // The footer repeats the bounds of a column, and those of JSON as a whole.
    columns: Object.entries(columns).map(([name, type]) => ({ name, type, statistics: type !== 'JSON' })),
    ...{ codec: 'ZSTD', compressors: { ZSTD: (bytes: Uint8Array) => zstdCompressSync(bytes) } },
  });
  return counter.exported;
}
