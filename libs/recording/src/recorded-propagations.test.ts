import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { seededRandom } from '@sluice/platform';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { filesIn } from './file-names.ts';
import type { Propagation } from './propagations.ts';
import { matchesKeys, type PropagationQuery } from './queries.ts';
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

test('many are found as few are: by duration, by start or by Service', () => {
  const random = seededRandom(1);
  const days = 86_400_000;
  // Some take longer than usual, some continue.
  const all = Array.from({ length: 7_000 }, (_, i) => {
    const key = i % 10 === 0 ? db : web;
    const ms = random.next() < 0.01 ? 60_000 + random.next() * 600_000 : random.next() * 5_000;
    const open = i % 1_000 === 0 ? { endedAt: null, end: null } : {};
    return propagation(random.next() * days, ms, { key, isStartKnown: i % 7 > 0, ...open });
  });
  append(all, { at: days });
  const hour = { from: days / 2, to: days / 2 + 3_600_000 };
  const asked: readonly Partial<PropagationQuery>[] = [
    ...[{ to: days }, hour, { from: days / 2, to: days / 2 }].flatMap((period) =>
      ['%/%/%', 'c/%/%', db].flatMap((keys) => [
        { ...period, keys },
        { ...period, keys, atLeastMs: 30_000, isStartKnown: true },
        { ...period, keys, sort: 'latest' as const },
      ]),
    ),
    { to: days, isOpen: true },
  ];
  for (const query of asked)
    expect([query, longest({ ...query, limit: 20 })]).toEqual([query, expected(all, days, query)]);
});

/** The first 20 of the query, whose recording ended at `end`. */
function expected(all: readonly Propagation[], end: number, given: Partial<PropagationQuery>) {
  const query = { ...everything, ...given };
  const until = ({ endedAt }: Propagation) => endedAt ?? end;
  const rank = (one: Propagation) => until(one) - (query.sort === 'longest' ? one.startedAt : 0);
  return all
    .filter((one) => query.keys === '%' || matchesKeys(query.keys, one.key))
    .filter(
      (one) => one.startedAt <= query.to && until(one) >= query.from && until(one) - one.startedAt >= query.atLeastMs,
    )
    .filter((one) => (one.isStartKnown || !query.isStartKnown) && (one.endedAt === null || !query.isOpen))
    .sort((a, b) => rank(b) - rank(a) || a.startedAt - b.startedAt)
    .slice(0, 20)
    .map(({ key, startedAt }) => [key, startedAt]);
}
