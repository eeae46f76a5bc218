import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Change, encodeMessage, type Fact } from '@sluice/messages';
import { aPodNamed, aService } from '@sluice/model/testing';
import { silentLogger } from '@sluice/platform';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { exportRecording } from './export-recording.ts';
import { filesIn } from './file-names.ts';
import { Playback } from './playback.ts';
import { RecordConverter } from './record-converter.ts';
import { RecordingDirectory } from './recording-directory.ts';
import { RecordingReader } from './recording-reader.ts';

const limits = { maxBytes: 1024 ** 3, retentionMs: 1e12, minFreeBytes: 0 };
let root: string;
let reader: RecordingReader;
let exported: RecordingReader;

const resourceVersions = { endpoints: '1', endpointslices: '1' };
const whole = { first: true, last: true, initial: true, resourceVersions };
const pod = (name: string, ready = true): Fact => ({
  ...{ kind: 'pod', name, pod: aPodNamed(name, { ready }), node: { zone: 'a' } },
});

/** From 0 to 2 s and from 5 to 9 s: `web` and `db`, whose Pods become not ready and ready in turn each 10 ms. */
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sluice-export-'));
  const recording = new RecordingDirectory(join(root, 'source'), { version: '1', limits });
  recording.nameCluster('c', 'prod');
  const converter = new RecordConverter(silentLogger);
  let sequence = 0;
  const add = (at: number, service: string, facts: readonly Fact[], given: Partial<Change> = {}) => {
    const key = { cluster: 'c', namespace: 'shop', service };
    const stamp = { epoch: 1, sequence: ++sequence };
    const causes = { first: [], more: 0 };
    const message: Change = { kind: 'change', key, stamp, facts, causes, resourceVersions, ...given };
    const record = { key: `c/shop/${service}`, id: '', headers: {}, payload: encodeMessage(message), message };
    return converter.convert('changes', record, at) ?? expect.unreachable();
  };
  for (const [from, to] of [
    [0, 2_000],
    [5_000, 9_000],
  ] as const) {
    const records = ['web', 'db'].map((name) =>
      add(from, name, [{ kind: 'service', service: aService({ name }) }, pod(name)], { snapshot: whole }),
    );
    for (let at = from + 10; at < to; at += 10)
      for (const name of ['web', 'db']) records.push(add(at, name, [pod(name, at % 20 === 0)]));
    recording.append([], from, { afterLoss: from > 0 });
    recording.append(records, to);
  }
  recording.close(9_000);
  reader = new RecordingReader(join(root, 'source'));
  exported = new RecordingReader(join(root, 'target'));
});

afterEach(() => {
  reader.close();
  exported.close();
  rmSync(root, { recursive: true });
});

const run = (from: number, to: number, isWanted = (key: string): boolean => key === 'c/shop/web', isRedacted = false) =>
  exportRecording(reader, {
    ...{ directory: join(root, 'target'), period: { from, to }, isWanted, version: '1', logger: silentLogger },
    isRedacted,
  });

const podsAt = (of: RecordingReader, time: number) =>
  new Playback(of, time).start.filter(({ resource, name }) => resource === 'pods' && name === 'web');

test('has the Services of the period as they were, and nothing else', () => {
  expect(run(1_000, 1_500)).toEqual({ services: 1, records: 151 });
  expect(exported.coverage()).toEqual({
    periods: [{ from: 1_000, to: 1_500 }],
    gaps: [],
    unreadable: [],
    isRedacted: false,
  });
  expect(exported.clusterNames()).toEqual(new Map([['c', 'prod']]));
  expect(exported.servicesAt(1_500)).toEqual(['c/shop/web']);
  for (const at of [1_000, 1_005, 1_250, 1_500]) expect(podsAt(exported, at), String(at)).toEqual(podsAt(reader, at));
  expect(podsAt(exported, 1_500)).toHaveLength(1);
});

test('keeps gaps, and what does not end before the end', () => {
  run(1_900, 6_000, () => true);
  expect(exported.coverage().periods).toEqual([
    { from: 1_900, to: 2_000 },
    { from: 5_000, to: 6_000 },
  ]);
  expect(exported.servicesAt(6_000)).toEqual(['c/shop/db', 'c/shop/web']);
  expect(podsAt(exported, 6_000)).toEqual(podsAt(reader, 6_000));
  const query = { from: 0, to: 1e6, keys: '%', atLeastMs: 0, isOpen: true, isStartKnown: false, limit: 10 };
  expect(exported.propagations({ ...query, sort: 'longest' }).propagations).toMatchObject([
    { pod: 'db' },
    { pod: 'web' },
  ]);
});

test('a period that begins in a gap begins with the next record', () => {
  expect(run(3_000, 5_015)).toEqual({ services: 1, records: 2 });
  expect(exported.coverage().periods).toEqual([{ from: 5_000, to: 5_015 }]);
});

test('says whether it is redacted, also when it is exported again', () => {
  run(0, 2_000, undefined, true);
  expect([reader.coverage().isRedacted, exported.coverage().isRedacted]).toEqual([false, true]);
  const selection = { period: { from: 0, to: 2_000 }, isWanted: () => true, isRedacted: false };
  exportRecording(exported, { ...selection, directory: join(root, 'again'), version: '1', logger: silentLogger });
  const again = new RecordingReader(join(root, 'again'));
  expect(again.coverage().isRedacted).toBe(true);
  again.close();
});

test('a file from before the mark is not redacted', () => {
  run(0, 100);
  const [file] = filesIn(join(root, 'target'));
  const database = new DatabaseSync(file?.path ?? '');
  database.exec('ALTER TABLE recording DROP COLUMN redacted');
  database.close();
  expect(exported.coverage().isRedacted).toBe(false);
});

test('does not add to a recording', () => {
  run(0, 100);
  expect(() => run(0, 100)).toThrow(/target already contains a recording/);
});
