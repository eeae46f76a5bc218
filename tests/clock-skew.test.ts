import { MemoryBus } from '@sluice/bus';
import { FakeApiServer, FakeClient, FaultPlan, type Population, populate } from '@sluice/fake-apiserver';
import { type Clock, seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { runReconciler } from '@sluice/reconciler';
import { defaultSettings } from '@sluice/service-state';
import { type Commit, MemoryStore } from '@sluice/store';
import { ClusterWatcher } from '@sluice/watcher';
import { defaultRetry, runWriter, unlimited } from '@sluice/writer';
import { afterEach, beforeEach, expect, test } from 'vitest';

const minute = 60_000;
let clock: VirtualClock;
let server: FakeApiServer;
let population: Population;
let bus: MemoryBus;
let store: MemoryStore;
/** Called during each commit. */
let onCommit: () => void;
let stop: AbortController;

beforeEach(() => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  server = new FakeApiServer({ clock, random: seededRandom(1), bookmarkIntervalMs: 0 });
  population = populate(server, { services: 10, podsPerService: 3 });
  bus = new MemoryBus({ partitions: 1 });
  onCommit = () => {};
  store = new (class extends MemoryStore {
    override async commit(commit: Commit): Promise<void> {
      onCommit();
      await super.commit(commit);
    }
  })();
  stop = new AbortController();
  // An API server that needs 40 ms for a write, as under load: plans are followed by a cooldown (ADR 0023).
  const faults = new FaultPlan([{ latencyMs: 40, probability: 1 }], seededRandom(8));
  const client = new FakeClient(server, { clock, faults });
  const ports = { clock, random: seededRandom(2), logger: silentLogger, bus };
  const work = { ...ports, store, fencingToken: 1, partitions: [0] };
  const cluster = () => ({ writer: client, limit: unlimited, record: () => {} });
  const { identity } = server;
  void new ClusterWatcher({ ...ports, cluster: identity, fencingToken: 1, reader: client }).run(stop.signal);
  void runWriter({ ...work, cluster, retry: defaultRetry, requestSignal: new AbortController().signal }, stop.signal);
});

afterEach(async () => {
  stop.abort();
  await bus.close();
});

function reconcile(fencingToken: number, its: Clock, signal: AbortSignal, settings = defaultSettings): Promise<void> {
  const ports = { clock: its, random: seededRandom(3), logger: silentLogger, bus, store };
  const options = { ...ports, fencingToken, partitions: [0], settings, commitIntervalMs: 100 };
  return runReconciler(options, signal);
}

/** A clock that is ahead by as many milliseconds as `ahead` returns. */
const skewed = (ahead: () => number): Clock => ({
  now: () => clock.now() + ahead(),
  monotonic: () => clock.monotonic(),
  schedule: (delayMs, callback) => clock.schedule(delayMs, callback),
});

/** Makes a Pod of every Service not ready and returns how long it takes until all slices show it, in milliseconds. */
async function timeUntilRight(): Promise<number> {
  const flippedAt = clock.now();
  for (let i = 0; i < 10; i++) server.put('pods', population.podObject(i, 0, false));
  const right = () =>
    (
      server.list('endpointslices').items as unknown as readonly {
        readonly endpoints?: readonly { readonly conditions: { readonly ready: boolean } }[];
      }[]
    ).filter(({ endpoints = [] }) => endpoints.some(({ conditions }) => !conditions.ready)).length;
  while (right() < 10 && clock.now() - flippedAt < 2 * 60 * minute) await advance(clock, 100);
  return clock.now() - flippedAt;
}

test.each([0, 5, 60])(
  'a reconciler whose clock is %d minutes ahead hands over to one with a right clock',
  async (skew) => {
    const first = new AbortController();
    const running = reconcile(
      1,
      skewed(() => skew * minute),
      first.signal,
    );
    await advance(clock, 10_000);
    first.abort();
    await advance(clock, 1_000);
    await running;
    void reconcile(2, clock, stop.signal);
    await advance(clock, 1_000);
    expect(await timeUntilRight()).toBeLessThan(2_000);
  },
);

test.each([40, 60, 80, 100, 120, 140])(
  'a system clock that is set back %d ms after a change delays nothing',
  async (ms) => {
    let ahead = 60 * minute;
    void reconcile(
      1,
      skewed(() => ahead),
      stop.signal,
    );
    await advance(clock, 10_000);
    for (let i = 0; i < 10; i++) server.put('pods', population.podObject(i, 1, false));
    // Plans, Outcomes or cooldowns are pending.
    await advance(clock, ms);
    ahead = 0;
    await advance(clock, 100);
    for (let i = 0; i < 10; i++) server.put('pods', population.podObject(i, 1, true));
    await advance(clock, 2_000);
    expect(await timeUntilRight()).toBeLessThan(2_000);
  },
);

test.each([1, 2, 3])(
  'a system clock that is set back during commit %d after a change does not delay the end of its batch period',
  async (commit) => {
    const batchPeriodMs = { ...defaultSettings.batchPeriodMs, endpointslice: 1_000, endpoints: 1_000 };
    let ahead = 60 * minute;
    void reconcile(
      1,
      skewed(() => ahead),
      stop.signal,
      { ...defaultSettings, batchPeriodMs },
    );
    await advance(clock, 10_000);
    let commits = 0;
    onCommit = () => {
      if (++commits === commit) ahead = 0;
    };
    expect(await timeUntilRight()).toBeLessThan(5_000);
  },
);
