import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { type Change, encodeMessage } from '@sluice/messages';
import { aPodNamed, aService } from '@sluice/model/testing';
import { silentLogger } from '@sluice/platform';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { exportLines } from './export-lines.ts';
import { exportParquet } from './export-parquet.ts';
import { RecordConverter } from './record-converter.ts';
import { RecordingDirectory } from './recording-directory.ts';
import { RecordingReader } from './recording-reader.ts';

const limits = { maxBytes: 1024 ** 3, retentionMs: 1e12, minFreeBytes: 0 };
const resourceVersions = { endpoints: '1', endpointslices: '1' };
/** More than one group of rows. */
const changes = 2_500;
let root: string;
let path: string;
let reader: RecordingReader;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sluice-parquet-'));
  path = join(root, 'changes.parquet');
  const recording = new RecordingDirectory(join(root, 'source'), { version: '1', limits });
  const converter = new RecordConverter(silentLogger);
  const toRecord = (sequence: number, given: Partial<Change>) => {
    const key = { cluster: 'c', namespace: 'shop', service: 'web' };
    const causes = { first: [{ description: 'Pod shop/web-1 changed', observedAt: sequence }], more: 0 };
    const pod = {
      kind: 'pod',
      name: 'web-1',
      pod: aPodNamed('web-1', { ready: sequence % 2 === 0 }),
      node: null,
    } as const;
    const stamp = { epoch: 1, sequence };
    const message: Change = { kind: 'change', key, stamp, facts: [pod], causes, resourceVersions, ...given };
    const record = { key: 'c/shop/web', id: '', headers: {}, payload: encodeMessage(message), message };
    return converter.convert('changes', record, 1_000 + sequence) ?? expect.unreachable();
  };
  const snapshot = { first: true, last: true, initial: true, resourceVersions };
  const start = toRecord(0, { snapshot, facts: [{ kind: 'service', service: aService() }] });
  recording.append([start, ...Array.from({ length: changes }, (_, i) => toRecord(i + 1, {}))], 4_000);
  recording.close(4_000);
  reader = new RecordingReader(join(root, 'source'));
});

afterEach(() => {
  reader.close();
  rmSync(root, { recursive: true });
});

const selection = { period: { from: 0, to: 4_000 }, isWanted: () => true, isRedacted: false, version: '1.2.3' };
const compressors = { ZSTD: (bytes: Uint8Array) => new Uint8Array(zstdDecompressSync(bytes)) };

test('has the fields of JSON lines as columns', async () => {
  const lines: string[] = [];
  exportLines(reader, { ...selection, format: 'jsonl', write: (line) => void lines.push(...line.trim().split('\n')) });
  expect(await exportParquet(reader, { ...selection, path })).toEqual({ services: 1, records: changes + 1 });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const file = await asyncBufferFromFile(path);
  const { created_by, row_groups, schema } = await parquetMetadataAsync(file);
  expect(created_by).toBe('sluice version 1.2.3');
  expect(row_groups.map(({ num_rows }) => Number(num_rows))).toEqual([2_000, 501]);
  expect(
    schema
      .map(({ name }) => name)
      .slice(1)
      .join(),
  ).toBe('time,cluster,clusterUid,namespace,service,topic,kind,snapshot,objects,text,traceparent,message');
  const rows = await parquetReadObjects({ file, compressors });
  const expected = lines.map((line) => JSON.parse(line));
  expect(rows.map(({ time, ...row }) => ({ ...row, time: (time as Date).toISOString() }))).toEqual(
    expected.map((row) => ({ traceparent: null, ...row })),
  );
});

test('an export without records is a file without rows', async () => {
  const exported = await exportParquet(reader, { ...selection, isWanted: () => false, path });
  expect(exported).toEqual({ services: 0, records: 0 });
  expect(await parquetReadObjects({ file: await asyncBufferFromFile(path), compressors })).toEqual([]);
});

test('does not replace a file', async () => {
  await exportParquet(reader, { ...selection, path });
  await expect(exportParquet(reader, { ...selection, path })).rejects.toThrow(/EEXIST/);
});
