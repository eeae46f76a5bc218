import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { seededRandom } from '@sluice/platform';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { filesIn } from './file-names.ts';
import { RecordingDirectory, type RecordingLimits } from './recording-directory.ts';
import { RecordingReader } from './recording-reader.ts';
import type { NewRecord } from './records.ts';
import { schemaVersion } from './schema.ts';

const web = 'c/shop/web';
const all = { since: 0, until: Number.MAX_SAFE_INTEGER, records: 1_000 };
const limits: RecordingLimits = { maxBytes: 1024 ** 3, retentionMs: 7 * 86_400_000, minFreeBytes: 0 };
let directory: string;
let recording: RecordingDirectory;
let reader: RecordingReader;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-recording-'));
  recording = open();
  reader = new RecordingReader(directory);
});

afterEach(() => {
  reader.close();
  recording.close(0);
  rmSync(directory, { recursive: true });
});

const open = (given: Partial<RecordingLimits> = {}) =>
  new RecordingDirectory(directory, { version: '1.2.3', limits: { ...limits, ...given } });

/** Ends the run and begins another. */
function reopen(at: number, given: Partial<RecordingLimits> = {}): void {
  recording.close(at);
  recording = open(given);
}

function record(text: string, receivedAt: number, given: Partial<NewRecord> = {}): NewRecord {
  return {
    ...{ key: web, topic: 'changes', receivedAt, startsSnapshot: false, objects: ['pod/web-1'], text },
    traceparent: undefined,
    service: undefined,
    propagations: [],
    managerChanges: [],
    payload: new TextEncoder().encode(JSON.stringify({ text, like: 'x'.repeat(1_000) })),
    ...given,
  };
}

const snapshot = (text: string, receivedAt: number, given: Partial<NewRecord> = {}) =>
  record(text, receivedAt, { startsSnapshot: true, ...given });

function textsOf(key = web, range: Partial<typeof all> = {}): readonly string[] {
  const { records } = reader.records(key, { ...all, ...range });
  return records.map(
    ({ payload }) => (JSON.parse(new TextDecoder().decode(payload)) as { readonly text: string }).text,
  );
}

describe('a recording', () => {
  test('returns the records of a Service from its last snapshot on', () => {
    recording.append([snapshot('s1', 10), record('a', 20), snapshot('other', 25, { key: 'c/shop/db' })], 30);
    recording.append([record('b', 40), snapshot('s2', 50), record('c', 60)], 70);
    expect(textsOf()).toEqual(['s1', 'a', 'b', 's2', 'c']);
    expect(textsOf(web, { since: 55 })).toEqual(['s2', 'c']);
    expect(textsOf(web, { since: 45 })).toEqual(['s1', 'a', 'b', 's2', 'c']);
    expect(textsOf(web, { until: 40 })).toEqual(['s1', 'a', 'b']);
    expect(textsOf(web, { records: 1 })).toEqual(['s2', 'c']);
    expect(textsOf(web, { records: 3 })).toEqual(['s1', 'a', 'b', 's2', 'c']);
    expect(textsOf('c/shop/db')).toEqual(['other']);
    expect(textsOf('c/shop/none')).toEqual([]);
    expect(reader.servicesAt(70)).toEqual(['c/shop/db', web]);
    expect(reader.servicesAt(20)).toEqual([web]);
  });

  test('continues over files, and needs a snapshot in one of them', () => {
    recording.append([record('lost', 5), snapshot('s1', 10), record('a', 20)], 30);
    reopen(100);
    recording.append([record('b', 110), record('c', 120)], 130);
    expect(textsOf()).toEqual(['s1', 'a', 'b', 'c']);
    expect(textsOf(web, { records: 2 })).toEqual(['s1', 'a', 'b', 'c']);
    rmSync(filesIn(directory)[0]?.path ?? '');
    expect(textsOf()).toEqual([]);
  });

  test('does not have a Service that was deleted while nothing was recorded', () => {
    const db = 'c/shop/db';
    recording.append([snapshot('s1', 10), snapshot('d1', 10, { key: db }), snapshot('e1', 10, { key: 'e/a/b' })], 20);
    reopen(40);
    recording.append([], 40);
    expect(reader.servicesAt(40), 'no gap').toEqual([db, web, 'e/a/b']);
    reopen(1_000);
    recording.append([snapshot('s2', 100_000)], 100_000);
    recording.append([], 1e6);
    expect(reader.servicesAt(160_000), 'the watcher may still publish it').toEqual([db, web, 'e/a/b']);
    expect(reader.servicesAt(160_001), 'the cluster e does not answer').toEqual([web, 'e/a/b']);
    expect(reader.servicesAt(20)).toEqual([db, web, 'e/a/b']);
  });

  test('contains the removal of a cluster for each of its Services', () => {
    recording.append(
      [snapshot('s1', 10), record('removed', 20, { key: 'c' }), record('removed', 30, { key: 'd' })],
      30,
    );
    expect(textsOf()).toEqual(['s1', 'removed']);
    expect(reader.servicesAt(30)).toEqual([web]);
  });

  test('keeps trace and time of a record, also if the clock is set back', () => {
    recording.append([snapshot('s1', 10, { traceparent: '00-a-b-01' }), record('a', 5, { topic: 'mutations' })], 30);
    expect(reader.records(web, all).records).toMatchObject([
      { topic: 'changes', receivedAt: 10, startsSnapshot: true, traceparent: '00-a-b-01' },
      { topic: 'mutations', receivedAt: 10, startsSnapshot: false },
    ]);
  });

  test('stores similar records as differences, which no loss of another file breaks', () => {
    const noise = Array.from({ length: 2_000 }, (_, i) => Math.sin(i)).join();
    const payload = (text: string) => new TextEncoder().encode(JSON.stringify({ text, noise }));
    const records = Array.from({ length: 100 }, (_, i) => record(`${i}`, 10 + i, { payload: payload(`${i}`) }));
    recording.append([snapshot('s', 1, { payload: payload('s') }), ...records], 200);
    expect(textsOf()).toHaveLength(101);
    recording.close(200);
    const [file] = filesIn(directory);
    expect(file?.bytes).toBeLessThan(10 * payload('').length);
    recording = open();
    recording.append(
      [snapshot('s2', 300, { payload: payload('s2') }), record('z', 301, { payload: payload('z') })],
      302,
    );
    rmSync(file?.path ?? '');
    expect(textsOf()).toEqual(['s2', 'z']);
  });

  test('names clusters in each file', () => {
    recording.append([snapshot('s1', 10)], 20);
    recording.nameCluster('c', 'west');
    recording.nameCluster('d', 'east');
    recording.nameCluster('c', 'north');
    expect([...reader.clusterNames()]).toEqual([
      ['d', 'east'],
      ['c', 'north'],
    ]);
    recording.append([], 30, { afterLoss: true });
    rmSync(filesIn(directory)[0]?.path ?? '');
    expect(reader.clusterNames().get('c')).toBe('north');
  });

  test('tells when nothing was recorded', () => {
    recording.append([snapshot('s1', 10)], 1_000);
    recording.append([], 2_000);
    reopen(2_000);
    recording.append([], 2_000);
    expect(reader.coverage()).toMatchObject({ periods: [{ from: 1_000, to: 2_000 }], gaps: [], unreadable: [] });
    reopen(3_000);
    recording.append([], 60_000);
    expect(reader.coverage().periods).toEqual([
      { from: 1_000, to: 3_000 },
      { from: 60_000, to: 60_000 },
    ]);
    recording.append([], 61_000);
    recording.append([record('a', 70_000)], 70_000, { afterLoss: true });
    expect(reader.coverage().periods.slice(1)).toEqual([
      { from: 60_000, to: 61_000 },
      { from: 70_000, to: 70_000 },
    ]);
  });

  test('consists of single files once it is closed, which need no write access', () => {
    recording.append([snapshot('s1', 10)], 20);
    recording.close(30);
    const [file] = filesIn(directory);
    expect(readdirSync(directory).filter((name) => name.startsWith('sluice-'))).toHaveLength(1);
    // The versions of the format that writers and readers need: 2 is WAL.
    expect([...readFileSync(file?.path ?? '').subarray(18, 20)]).toEqual([1, 1]);
    recording = open();
    expect(textsOf()).toEqual(['s1']);
  });

  test('is readable by its owner only', () => {
    recording.append([snapshot('s1', 10)], 20);
    const modes = readdirSync(directory).map((name) => [name, statSync(join(directory, name)).mode & 0o077]);
    expect(modes.filter(([, mode]) => mode !== 0)).toEqual([]);
  });

  test('can be opened by other programs', () => {
    recording.append([snapshot('Pod shop/web-1 became ready', Date.parse('2026-01-02T03:04:05.678Z'))], 30);
    const database = new DatabaseSync(filesIn(directory)[0]?.path ?? '', { readOnly: true });
    expect({ ...database.prepare('SELECT time, service, text FROM history').get() }).toEqual({
      ...{ time: '2026-01-02T03:04:05.678Z', service: web, text: 'Pod shop/web-1 became ready' },
    });
    database.close();
  });
});

describe('limits', () => {
  test('a file is removed once its last record is too old', () => {
    const now = Date.UTC(2026, 0, 1);
    recording.append([snapshot('s1', 10)], now);
    reopen(now);
    recording.append([snapshot('s2', 20)], now + 1);
    const [oldest] = filesIn(directory);
    const old = new Date(now - 8 * 86_400_000);
    utimesSync(oldest?.path ?? '', old, old);
    reopen(now + 2);
    recording.append([], now + 3);
    expect(textsOf()).toEqual(['s2']);
  });

  test('the oldest files go once all are too large, and a file has an eighth of the limit', () => {
    const maxBytes = 8 * 200_000;
    reopen(0, { maxBytes });
    const random = seededRandom(1);
    const noise = () => new TextEncoder().encode(Array.from({ length: 5_000 }, () => random.next()).join());
    let newFiles = 0;
    for (let i = 1; i <= 60; i++) {
      const payload = noise();
      const isNew = recording.append([record(`${i}`, i, { payload, objects: [] })], 1e12 + i * 20_000);
      newFiles += Number(isNew);
    }
    const files = filesIn(directory);
    expect(newFiles).toBeGreaterThan(files.length);
    expect(files.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(maxBytes + 400_000);
    expect(files.length).toBeGreaterThan(4);
  });

  test('nothing is recorded while the disk is nearly full, and then a new file begins', () => {
    reopen(0, { minFreeBytes: Number.MAX_SAFE_INTEGER });
    expect(() => recording.append([snapshot('s1', 10)], 100)).toThrow(/less than \d+ MiB free on the disk/);
    reopen(200);
    expect(recording.append([snapshot('s2', 210)], 220)).toBe(true);
    expect(textsOf()).toEqual(['s2']);
  });

  test('one process records to a directory', () => {
    expect(() => open()).toThrow(
      `cannot record to ${directory}: another process is recording to it; choose another directory`,
    );
    const file = join(directory, 'a-file');
    writeFileSync(file, '');
    expect(() => new RecordingDirectory(file, { version: '', limits })).toThrow(`cannot record to ${file}: EEXIST`);
  });
});

describe('a file that cannot be read', () => {
  beforeEach(() => {
    recording.append([snapshot('s1', 10)], 20);
    reopen(30);
    recording.append([snapshot('s2', 40)], 50);
  });

  const first = () => filesIn(directory)[0]?.path ?? '';
  const edit = (sql: string) => {
    const database = new DatabaseSync(first());
    database.exec(sql);
    database.close();
  };

  test.each([
    [
      'is of a newer version',
      () => edit(`PRAGMA user_version = ${schemaVersion + 1}`),
      `has format ${schemaVersion + 1} of a newer sluice; this one reads up to ${schemaVersion}; upgrade sluice`,
    ],
    ['is of another program', () => edit('PRAGMA application_id = 1'), 'is not a recording of sluice'],
    ['is no database', () => writeFileSync(first(), 'x'.repeat(5_000)), 'file is not a database'],
    ['is truncated', () => truncateSync(first(), 5_000), 'it is truncated: 5000 of '],
    ['is empty', () => truncateSync(first(), 0), 'is not a recording of sluice'],
  ])('because it %s hides no other file', (_, damage, problem) => {
    damage();
    expect(textsOf()).toEqual(['s2']);
    const { periods, unreadable } = reader.coverage();
    expect(periods).toEqual([{ from: 50, to: 50 }]);
    expect(unreadable).toEqual([expect.stringContaining(problem)]);
    expect(unreadable[0]).toContain(first());
  });
});

test('after a damaged record, the history continues with the next snapshot', () => {
  recording.append([snapshot('s1', 10), record('a', 20), record('b', 30), snapshot('s2', 40), record('c', 50)], 60);
  recording.close(60);
  const path = filesIn(directory)[0]?.path ?? '';
  const database = new DatabaseSync(path);
  database.exec("UPDATE records SET payload = substr(payload, 1, length(payload) - 1) || x'00' WHERE id = 2");
  database.close();
  recording = open();
  expect(textsOf()).toEqual(['s1', 's2', 'c']);
  expect(reader.records(web, all).unreadable).toEqual([`${path}: 1 damaged record of ${web}`]);
});

test('files of others in the directory are left alone', () => {
  writeFileSync(join(directory, 'notes.txt'), 'mine');
  recording.append([snapshot('s1', 10)], 20);
  reopen(30, { maxBytes: 1 });
  recording.append([], 30_000);
  expect(readdirSync(directory)).toContain('notes.txt');
});
