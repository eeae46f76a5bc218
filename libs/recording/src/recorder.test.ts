import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Change, encodeMessage, type Fact, type Message, noCauses } from '@sluice/messages';
import { aPodNamed, aService, aSlice } from '@sluice/model/testing';
import { VirtualClock } from '@sluice/platform';
import { advance, type RecordingLogger, recordingLogger, until } from '@sluice/platform/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { filesIn } from './file-names.ts';
import type { PropagationQuery } from './queries.ts';
import { Recorder, type RecorderOptions } from './recorder.ts';
import { RecordingDatabase } from './recording-database.ts';
import { RecordingFile } from './recording-file.ts';
import { RecordingReader } from './recording-reader.ts';

const key = { cluster: 'c', namespace: 'shop', service: 'web' };
const web = 'c/shop/web';
const all = { since: 0, until: Number.MAX_SAFE_INTEGER, records: 1_000 };
let directory: string;
let clock: VirtualClock;
let logger: RecordingLogger;
let recorder: Recorder;

const options = (given: Partial<RecorderOptions> = {}): RecorderOptions => ({
  ...{ directory, version: '1.2.3', clock, logger },
  limits: { maxBytes: 1024 ** 3, retentionMs: 86_400_000, minFreeBytes: 0 },
  ...given,
});

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-recorder-'));
  clock = new VirtualClock(1_000);
  logger = recordingLogger();
  recorder = await Recorder.open(options());
});

afterEach(async () => {
  await recorder.close();
  rmSync(directory, { recursive: true });
});

function change(sequence: number, given: Partial<Change> = {}): Change {
  const stamp = { epoch: 1, sequence };
  return { kind: 'change', key, stamp, previousSequence: sequence - 1, facts: [], causes: noCauses, ...given };
}

const resourceVersions = { endpoints: '1', endpointslices: '1' };
const snapshot = (sequence: number) =>
  change(sequence, {
    facts: [{ kind: 'service', service: aService() }],
    resourceVersions,
    snapshot: { first: true, last: true, initial: true, resourceVersions },
  });

function add(message: Message, service = web): void {
  recorder.add('changes', { key: service, id: 'any', headers: {}, payload: encodeMessage(message), message });
}

const sequences = async () =>
  (await recorder.records(web, all)).records.map(
    ({ payload }) => (JSON.parse(new TextDecoder().decode(payload)) as { stamp: { sequence: number } }).stamp.sequence,
  );

test('a read finds what was added before it', async () => {
  add(snapshot(1));
  add(change(2));
  expect(await sequences()).toEqual([1, 2]);
  add(change(3));
  expect(await sequences()).toEqual([1, 2, 3]);
});

test('records are written half a second after the first of them, and the next run reads them', async () => {
  add(snapshot(1));
  await advance(clock, 500);
  // Another process, while the recorder is not asked to flush.
  const reader = new RecordingReader(directory);
  await until('the record is in the file', async () => reader.records(web, all).records.length === 1);
  reader.close();
});

const isSnapshot = async () =>
  (await recorder.records(web, { ...all, since: clock.now() })).records.map(({ startsSnapshot }) => startsSnapshot);

test('after 500 records of a Service its state is recorded, once it is settled', async () => {
  add(snapshot(1));
  for (let sequence = 2; sequence <= 500; sequence++) add(change(sequence, { resourceVersions }));
  await advance(clock, 500);
  expect(await isSnapshot()).toHaveLength(500);
  // The rest of the batch follows.
  add(change(501));
  await advance(clock, 500);
  expect(await isSnapshot()).toHaveLength(501);
  add(change(502, { resourceVersions }));
  await advance(clock, 500);
  expect(await isSnapshot()).toEqual([true]);
  expect((await sequences()).slice(-1)).toEqual([502]);
  add(change(503, { resourceVersions }));
  await advance(clock, 500);
  expect(await isSnapshot()).toEqual([true, false]);
});

test('each file gets every Service that exists, also if it does not change', async () => {
  await recorder.close();
  await advance(clock, 1);
  recorder = await Recorder.open(options({ limits: { maxBytes: 1024 ** 3, retentionMs: 80_000, minFreeBytes: 0 } }));
  const keys = Array.from({ length: 150 }, (_, i) => `c/shop/web-${i}`);
  for (const name of [...keys, 'c/shop/gone']) {
    const ofName = { ...key, service: name.slice('c/shop/'.length) };
    add({ ...snapshot(1), key: ofName }, name);
  }
  add(
    change(2, { key: { ...key, service: 'gone' }, facts: [{ kind: 'service', service: null }], resourceVersions }),
    'c/shop/gone',
  );
  for (let seconds = 0; seconds < 30; seconds++) {
    await advance(clock, 1_000);
    await recorder.coverage();
  }
  const [, first = [], ...next] = filesIn(directory).map(({ path }) => servicesOf(path));
  expect(first).toHaveLength(151);
  expect(next.length).toBeGreaterThan(0);
  for (const services of next) expect(services.toSorted()).toEqual(keys.toSorted());
  // Each file that has ended can be opened alone, also where nothing can be written.
  expect(readdirSync(directory).filter((name) => name.endsWith('-wal'))).toHaveLength(1);
});

test('a workload that went to zero while the recorder was down was scaled, and its selector is not taken for wrong', async () => {
  const given = { kind: 'service' as const, service: aService() };
  const similarPods = { label: 'app=wbe', pods: 2 };
  const pod: Fact = { kind: 'pod', name: 'web-1', pod: aPodNamed('web-1', {}), node: { zone: 'a' } };
  add({ ...snapshot(1), facts: [given, pod] });
  await recorder.close();
  await advance(clock, 60_000);
  recorder = await Recorder.open(options());
  add({ ...snapshot(1), facts: [{ ...given, similarPods }] });
  const { problems } = await recorder.problems({ from: 0, to: clock.now(), isOpen: true });
  expect(problems.map(({ reason }) => reason)).toEqual(['ScaledToZero']);
});

test('a workload that was at zero before a restart starts, and is not taken for an outage', async () => {
  const slice = (ready: boolean): Fact => {
    const endpoints = [{ addresses: ['10.0.0.1'], conditions: { ready } }];
    return { kind: 'slice', name: 'a', uid: 'a', slice: aSlice('a', { endpoints }) };
  };
  const pod = (ready: boolean): Fact => ({
    ...{ kind: 'pod', name: 'web-1', pod: aPodNamed('web-1', { ready }), node: { zone: 'a' } },
  });
  const whole = (facts: readonly Fact[]) => ({
    ...snapshot(1),
    facts: [{ kind: 'service' as const, service: aService() }, ...facts],
  });
  add(whole([pod(true), slice(true)]));
  add(change(2, { facts: [{ kind: 'pod', name: 'web-1', pod: null, node: null }, slice(false)], resourceVersions }));
  await recorder.close();
  await advance(clock, 60_000);
  recorder = await Recorder.open(options());
  add(whole([pod(false), slice(false)]));
  const { problems } = await recorder.problems({ from: 0, to: clock.now(), isOpen: true });
  expect(problems.map(({ reason }) => reason)).toEqual(['NotStarted']);
});

function servicesOf(path: string): readonly string[] {
  const file = new RecordingFile(RecordingDatabase.open(path));
  const services = [...file.firstSnapshots(Number.MAX_SAFE_INTEGER).keys()];
  file.close();
  return services;
}

test('what is added while it is paused only shows how the Services are when it resumes', async () => {
  await recorder.close();
  await advance(clock, 1);
  recorder = await Recorder.open(options({ isPaused: true }));
  add(snapshot(1));
  add(change(2, { facts: [{ kind: 'pod', name: 'a', pod: aPodNamed('a'), node: null }], resourceVersions }));
  add(change(3, { facts: [{ kind: 'service', service: null }], resourceVersions }), 'c/shop/gone');
  await advance(clock, 60_000);
  expect(await sequences()).toEqual([]);
  recorder.resume();
  await advance(clock, 500);
  await recorder.coverage();
  await advance(clock, 500);
  add(change(3, { resourceVersions }));
  expect(await sequences()).toEqual([2, 3]);
  const [whole] = (await recorder.records(web, all)).records;
  expect(JSON.parse(new TextDecoder().decode(whole?.payload)).facts.map(({ kind }: Fact) => kind)).toEqual([
    'service',
    'pod',
  ]);
  expect((await recorder.coverage()).periods.at(-1)).toMatchObject({ from: 61_501 });
  expect(filesIn(directory).flatMap(({ path }) => servicesOf(path))).toEqual([web]);
});

test('a log that repeats the removal of a cluster removes nothing that a later watcher has published', async () => {
  add(snapshot(1));
  const removal = { kind: 'clusterRemoved', cluster: 'c', epoch: 1 } as const;
  add(removal, 'c');
  add({ ...snapshot(1), stamp: { epoch: 2, sequence: 1 } });
  add(removal, 'c');
  const { records } = await recorder.records(web, { ...all, records: 1 });
  expect(records.map(({ startsSnapshot }) => startsSnapshot)).toEqual([true]);
  const query = { from: 0, to: 1e6, isOpen: true };
  expect((await recorder.problems(query)).problems.map(({ reason }) => reason)).toEqual(['NoMatchingPods']);
});

test('the removal of a cluster is recorded, requests and malformed records are not', async () => {
  add(snapshot(1));
  add({ kind: 'clusterRemoved', cluster: 'c', epoch: 2 }, 'c');
  recorder.add('requests', { key: web, id: 'any', headers: {}, payload: encodeMessage(change(9)) });
  recorder.add('changes', { key: web, id: 'any', headers: {}, payload: new TextEncoder().encode('{') });
  const { records } = await recorder.records(web, all);
  expect(records.map(({ payload }) => JSON.parse(new TextDecoder().decode(payload)).kind)).toEqual([
    'change',
    'clusterRemoved',
  ]);
});

test('without records it says that it runs', async () => {
  expect((await recorder.coverage()).periods).toEqual([{ from: 1_000, to: 1_000 }]);
  await advance(clock, 10_000);
  expect((await recorder.coverage()).periods).toEqual([{ from: 1_000, to: 11_000 }]);
});

test('a failing disk is logged once, and answers nothing', async () => {
  await recorder.close();
  recorder = await Recorder.open(
    options({ limits: { maxBytes: 1, retentionMs: 1, minFreeBytes: Number.MAX_SAFE_INTEGER } }),
  );
  add(snapshot(1));
  await advance(clock, 500);
  add(change(2));
  await advance(clock, 500);
  await expect(recorder.records(web, all)).resolves.toEqual({ records: [], unreadable: [] });
  expect(logger.lines.map(({ level, message }) => [level, message])).toEqual([
    ['error', 'recording failed; the recording has a gap'],
  ]);
});

test('a recorder whose thread has ended rejects questions and takes no records', async () => {
  await recorder.close();
  await expect(recorder.coverage()).rejects.toThrow('the recording thread has ended');
  await expect(recorder.records(web, all)).rejects.toThrow('the recording thread has ended');
  add(change(1));
  recorder = await Recorder.open(options());
  expect(await sequences()).toEqual([]);
});

test('a directory that cannot be used is said at once', async () => {
  const opening = Recorder.open(options());
  // Meanwhile the thread answers and ends.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
  await expect(opening).rejects.toThrow('another process is recording to it');
  const file = join(directory, 'file');
  writeFileSync(file, '');
  await expect(Recorder.open(options({ directory: file }))).rejects.toThrow(`cannot record to ${file}`);
});

test('a propagation that continues is found, and written when the recording ends', async () => {
  const pod = aPodNamed('web-1', { ready: false });
  const conditions = { ready: true, serving: true, terminating: false };
  const endpoints = [{ addresses: pod.ips, conditions, targetRef: { kind: 'Pod', name: 'web-1' } }];
  const facts: Fact[] = [
    { kind: 'service', service: aService() },
    { kind: 'pod', name: 'web-1', pod, node: { zone: 'a' } },
    { kind: 'slice', name: 'web-abc', uid: 'u', slice: aSlice('web-abc', { endpoints }) },
  ];
  const causes = { first: [{ description: 'watcher started', observedAt: 900 }], more: 0 };
  add({ ...snapshot(1), facts, causes });
  const query = {
    from: 0,
    to: 1e6,
    keys: 'c/%/%',
    atLeastMs: 100,
    isOpen: true,
    isStartKnown: false,
    sort: 'longest',
    limit: 10,
  } as const;
  const found = (given: Partial<PropagationQuery> = {}) => recorder.propagations({ ...query, ...given });
  expect((await found()).propagations).toMatchObject([{ key: web, pod: 'web-1', startedAt: 900, endedAt: null }]);
  expect((await found({ isOpen: false, keys: '%/shop/web' })).propagations).toHaveLength(1);
  for (const given of [{ keys: 'd/%/%' }, { keys: '%/%/db' }, { isStartKnown: true }, { atLeastMs: 101 }, { to: 899 }])
    expect((await found(given)).propagations, JSON.stringify(given)).toEqual([]);

  await recorder.close();
  const reader = new RecordingReader(directory);
  expect(reader.propagations({ ...query, atLeastMs: 0 }).propagations).toMatchObject([{ pod: 'web-1', endedAt: null }]);
  reader.close();
  recorder = await Recorder.open(options());
});
