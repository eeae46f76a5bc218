import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { filesIn } from './file-names.ts';
import type { Propagation } from './propagations.ts';
import type { PropagationQuery } from './queries.ts';
import { RecordingDirectory } from './recording-directory.ts';
import { RecordingReader } from './recording-reader.ts';
import type { NewRecord } from './records.ts';

const limits = { maxBytes: 1024 ** 3, retentionMs: 1e12, minFreeBytes: 0 };
const everything = {
  from: 0,
  to: 1e6,
  keys: '%',
  atLeastMs: 0,
  isOpen: false,
  isStartKnown: false,
  sort: 'longest',
  limit: 100,
} as const;
const [web, db] = ['c/shop/web', 'd/pay/db'];
let directory: string;
let recording: RecordingDirectory;
let reader: RecordingReader;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-propagations-'));
  recording = new RecordingDirectory(directory, { version: '1', limits });
  reader = new RecordingReader(directory);
});

afterEach(() => {
  reader.close();
  recording.close(1e6);
  rmSync(directory, { recursive: true });
});

const propagation = (startedAt: number, ms: number, given: Partial<Propagation> = {}): Propagation => ({
  ...{
    key: web,
    pod: 'web-1',
    place: 'slices',
    from: 'ready',
    to: 'not ready',
    event: 'Pod shop/web-1 became not ready',
  },
  ...{ startedAt, isStartKnown: true, endedAt: startedAt + ms, end: 'written', ...given },
});

function append(propagations: readonly Propagation[], { at = 10, afterLoss = false } = {}): void {
  const record: NewRecord = {
    ...{ key: web, topic: 'changes', receivedAt: at, startsSnapshot: true, objects: [], text: '' },
    ...{ service: undefined, managerChanges: [], propagations, traceparent: undefined, payload: new Uint8Array([1]) },
  };
  recording.append([record], at, { afterLoss });
}

const longest = (query: Partial<PropagationQuery> = {}) =>
  reader.propagations({ ...everything, ...query }).propagations.map(({ key, startedAt }) => [key, startedAt]);

test('the longest are found over all files', () => {
  append([propagation(10, 5), propagation(20, 50), propagation(30, 7, { key: db })]);
  append([propagation(100, 20, { isStartKnown: false, end: 'unobserved' })], { at: 200, afterLoss: true });
  expect(longest()).toEqual([
    [web, 20],
    [web, 100],
    [db, 30],
    [web, 10],
  ]);
  expect(longest({ limit: 2 })).toEqual([
    [web, 20],
    [web, 100],
  ]);
  expect(longest({ atLeastMs: 7 })).toHaveLength(3);
  expect(longest({ atLeastMs: 7, isStartKnown: true })).toHaveLength(2);
  expect(longest({ keys: 'd/%' })).toEqual([[db, 30]]);
  expect(longest({ keys: '%/shop/%', to: 15 })).toEqual([[web, 10]]);
  expect(longest({ from: 71 })).toEqual([[web, 100]]);
  expect(longest({ sort: 'latest' })).toEqual([
    [web, 100],
    [web, 20],
    [db, 30],
    [web, 10],
  ]);
  const [, second] = reader.propagations(everything).propagations;
  expect(second).toEqual(propagation(100, 20, { isStartKnown: false, end: 'unobserved' }));
});

test('one that continues is as long as it was recorded', () => {
  append([propagation(10, 100)]);
  const open = propagation(50, 0, { endedAt: null, end: null, place: 'Endpoints' });
  recording.close(400, [open]);
  recording = new RecordingDirectory(directory, { version: '1', limits });
  expect(reader.propagations(everything).propagations).toEqual([open, propagation(10, 100)]);
  expect(longest({ atLeastMs: 300 })).toEqual([[web, 50]]);
  expect(longest({ from: 399, atLeastMs: 1 })).toEqual([[web, 50]]);
  expect(longest({ isOpen: true })).toEqual([[web, 50]]);
  append([propagation(500, 10)], { at: 600 });
  expect(longest({ isOpen: true })).toEqual([]);
});

test('changes of readiness are counted by Pod', () => {
  const ready = { from: 'not ready', to: 'ready' } as const;
  append([propagation(10, 5), propagation(20, 5, ready), propagation(30, 5, { end: 'superseded' })]);
  append([propagation(40, 5, { pod: 'web-2' }), propagation(50, 1_000, { place: 'Endpoints' })]);
  append([propagation(60, 5, { to: 'terminating' }), propagation(70, 5, { isStartKnown: false })]);
  append([propagation(100, 5, ready), propagation(110, 5, { key: db })], { at: 200, afterLoss: true });
  const counts = (query = {}) =>
    reader
      .readinessChanges({ ...everything, ...query })
      .pods.map(({ key, pod, changes, lastAt }) => [key, pod, changes, lastAt]);
  expect(counts({ limit: 2 })).toEqual([
    [web, 'web-1', 4, 100],
    [web, 'web-2', 1, 40],
  ]);
  expect(counts({ keys: 'd/%' })).toEqual([[db, 'web-1', 1, 110]]);
  expect(counts({ from: 25, to: 40, keys: 'c/%' })).toMatchObject([
    [web, 'web-1', 1, 30],
    [web, 'web-2', 1, 40],
  ]);
});

test('removals are ready Pods that are terminating or gone', () => {
  append([propagation(10, 3, { to: 'terminating' }), propagation(20, 4, { to: 'absent' }), propagation(30, 9)]);
  append([
    propagation(40, 9, { from: 'terminating', to: 'absent' }),
    propagation(50, 9, { to: 'absent', end: 'superseded' }),
  ]);
  append([propagation(60, 6, { to: 'terminating', key: db })], { at: 100, afterLoss: true });
  append([propagation(70, 8, { to: 'terminating' })], { at: 110 });
  const { removals } = reader.removals(everything);
  expect([...removals]).toEqual([
    [web, [3, 4, 8]],
    [db, [6]],
  ]);
});

test('people read them in the view', () => {
  append([propagation(10, 5)]);
  const [file] = filesIn(directory);
  const database = new DatabaseSync(file?.path ?? '', { readOnly: true });
  expect(database.prepare('SELECT * FROM pod_changes').all()).toMatchObject([
    {
      ...{ time: '1970-01-01T00:00:00.010Z', service: web, pod: 'web-1', place: 'slices', was: 'ready' },
      ...{ became: 'not ready', took_ms: 5, end: 'written', event: 'Pod shop/web-1 became not ready' },
    },
  ]);
  database.close();
});
