import {
  type AppendedOffsets,
  type Bus,
  type BusLimits,
  type BusRecord,
  LocalDeliveryBus,
  MemoryBus,
  NetworkedBus,
  type Topic,
} from '@sluice/bus';
import { FakeApiServer, FakeClient, populate } from '@sluice/fake-apiserver';
import type { RawObject } from '@sluice/kubernetes';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { runReconciler } from '@sluice/reconciler';
import { defaultSettings } from '@sluice/service-state';
import { startAllInOne } from '@sluice/sluice';
import { type Commit, MemoryStore, type ScopeState, type Store } from '@sluice/store';
import { ClusterWatcher } from '@sluice/watcher';
import { defaultRetry, runWriter, unlimited } from '@sluice/writer';
import { describe, expect, test } from 'vitest';

/**
 * Where a process crashes: before the n-th call of a port has an effect, after all of it and before the call returns, or
 * when a bus has appended half of the records.
 */
interface Crash {
  readonly at: number;
  readonly when: 'before' | 'after' | 'halfway';
}

/** Longer than every backoff. */
const convergenceMs = 300_000;

/** Steps at which commits or appends happen in the scenario below; more than it needs do no harm. */
const steps = Array.from({ length: 24 }, (_, i) => i + 1);
const crashes = (['before', 'after'] as const).flatMap((when) => steps.map((at): Crash => ({ at, when })));

describe('a crash at any step loses no Change and writes nothing twice (A10)', () => {
  test.each(crashes)('$when commit $at', async (crash) => {
    await survive(
      (bus) => bus,
      (store) => new CrashingStore(store, crash),
    );
  });

  test.each(crashes)('$when append $at', async (crash) => {
    await survive(
      (bus) => new CrashingBus(bus, crash),
      (store) => store,
    );
  });

  test.each(crashes)('$when append $at, with plans delivered within the process', async (crash) => {
    await survive(
      (bus, clock) => new LocalDeliveryBus(new CrashingBus(bus, crash), { clock, random: seededRandom(3) }),
      (store) => store,
    );
  });

  test.each(steps)('halfway through append %d, with messages in chunks', async (at) => {
    await survive(
      (bus, clock) => new NetworkedBus(new CrashingBus(bus, { at, when: 'halfway' }), { clock, logger: silentLogger }),
      (store) => store,
      { recordBytes: 400, messageBytes: 1_000_000 },
    );
  });
});

async function survive(
  wrapBus: (bus: Bus, clock: VirtualClock) => Bus,
  wrapStore: (store: Store) => Store,
  limits?: BusLimits,
): Promise<void> {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const server = new FakeApiServer({ clock, random: seededRandom(1), bookmarkIntervalMs: 0 });
  const population = populate(server, { services: 2, podsPerService: 3 });
  const cluster = new FakeClient(server, { clock });
  const bus = wrapBus(new MemoryBus({ partitions: 1, ...(limits && { limits }) }), clock);
  const store = wrapStore(new MemoryStore());
  const stop = new AbortController();
  const ports = { clock, random: seededRandom(2), logger: silentLogger, bus };
  const work = { ...ports, store, epoch: 1, partitions: [0] };
  const watcher = new ClusterWatcher({ ...ports, cluster: server.identity, fencingToken: 1, reader: cluster });
  const writable = { writer: cluster, limit: unlimited, record: () => {} };
  const running = [
    watcher.run(stop.signal),
    runReconciler({ ...work, fencingToken: 1, settings: defaultSettings }, stop.signal),
    runWriter(
      {
        ...work,
        fencingToken: work.epoch,
        cluster: () => writable,
        retry: defaultRetry,
        requestSignal: new AbortController().signal,
      },
      stop.signal,
    ),
  ];
  await advance(clock, convergenceMs);
  for (const ready of [false, true, false]) {
    server.put('pods', population.podObject(0, 0, ready) as RawObject);
    await advance(clock, convergenceMs);
  }
  stop.abort();
  await bus.close();
  await advance(clock, convergenceMs);
  await Promise.allSettled(running);

  const written = snapshot(server);
  expect(written.slices).toHaveLength(2);
  expect(written.notReady).toEqual([population.pod(0, 0).name]);
  const fresh = await writesOfAFreshStart(server, cluster, clock);
  expect(fresh).toBe(0);
}

/** Number of writes of a new Sluice with an empty store. */
async function writesOfAFreshStart(server: FakeApiServer, cluster: FakeClient, clock: VirtualClock) {
  const before = Number(server.resourceVersion);
  const fleet = startAllInOne({
    clusters: [{ name: 'sim', identity: server.identity, reader: cluster, writer: cluster, record: () => {} }],
    settings: defaultSettings,
    clock,
    random: seededRandom(3),
    logger: silentLogger,
  });
  await advance(clock, convergenceMs);
  await fleet.stop(0);
  return Number(server.resourceVersion) - before;
}

interface SliceShape {
  readonly endpoints?: readonly {
    readonly conditions: { readonly ready: boolean };
    readonly targetRef: { readonly name: string };
  }[];
}

function snapshot(server: FakeApiServer) {
  const slices = server.list('endpointslices').items as unknown as readonly SliceShape[];
  const endpoints = slices.flatMap((slice) => slice.endpoints ?? []);
  return { slices, notReady: endpoints.filter((e) => !e.conditions.ready).map((e) => e.targetRef.name) };
}

class CrashError extends Error {}

class CrashPoint {
  readonly #crash: Crash;
  #uses = 0;

  constructor(crash: Crash) {
    this.#crash = crash;
  }

  async pass<T>(work: () => Promise<T>, half = work): Promise<T> {
    const strikes = ++this.#uses === this.#crash.at;
    if (!strikes) return work();
    if (this.#crash.when === 'after') await work();
    else if (this.#crash.when === 'halfway') await half();
    throw new CrashError();
  }
}

class CrashingStore implements Store {
  readonly #inner: Store;
  readonly #point: CrashPoint;

  constructor(inner: Store, crash: Crash) {
    this.#inner = inner;
    this.#point = new CrashPoint(crash);
  }

  claim(scope: string, epoch: number): Promise<ScopeState> {
    return this.#inner.claim(scope, epoch);
  }

  find: Store['find'] = (scope, prefix) => this.#inner.find(scope, prefix);

  setIfAbsent(name: string, value: string): Promise<string> {
    return this.#inner.setIfAbsent(name, value);
  }

  checkpoint: Store['checkpoint'] = (scope) => this.#inner.checkpoint(scope);

  commit(commit: Commit): Promise<void> {
    return this.#point.pass(() => this.#inner.commit(commit));
  }
}

class CrashingBus implements Bus {
  readonly partitions: number;
  readonly #inner: Bus;
  readonly #point: CrashPoint;

  constructor(inner: Bus, crash: Crash) {
    this.#inner = inner;
    this.partitions = inner.partitions;
    this.#point = new CrashPoint(crash);
  }

  get limits() {
    return this.#inner.limits;
  }

  append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets> {
    const append = (part: readonly BusRecord[]) => this.#inner.append(topic, partition, part);
    return this.#point.pass(
      () => append(records),
      () => append(records.slice(0, Math.ceil(records.length / 2))),
    );
  }

  read: Bus['read'] = (topic, partition, after) => this.#inner.read(topic, partition, after);

  beginning: Bus['beginning'] = (topic, partition) => this.#inner.beginning(topic, partition);

  end: Bus['end'] = (topic, partition) => this.#inner.end(topic, partition);

  close(): Promise<void> {
    return this.#inner.close();
  }
}
