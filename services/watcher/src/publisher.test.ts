import { encodeMessage } from '@sluice/messages';
import { seededRandom, silentLogger, VirtualClock, YieldQueue } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { MemoryStore } from '@sluice/store';
import { beforeEach, describe, expect, test } from 'vitest';
import { factsPerChange } from './compose-changes.ts';
import { Indexer } from './indexer.ts';
import { PublishedState } from './published-state.ts';
import { Publisher, type PublisherOptions } from './publisher.ts';
import { GatedBus } from './testing/gated-bus.ts';
import { aPod, aService, someEndpoints } from './testing/objects.ts';

let clock: VirtualClock;
let indexer: Indexer;
let bus: GatedBus;
let publisher: Publisher;

beforeEach(() => {
  clock = new VirtualClock(1_000);
  indexer = new Indexer();
  bus = new GatedBus();
  publisher = new Publisher(options());
});

function options(): PublisherOptions {
  indexer.resourceVersions.set('endpoints', '3').set('endpointslices', '4');
  const ports = { clock, random: seededRandom(1), logger: silentLogger };
  return { cluster: 'c', fencingToken: 7, bus, indexer, ...ports };
}

const flushed = () => new Promise((resolve) => setImmediate(resolve));

/** Publishes the Services' snapshots, so that only later changes are recorded. */
async function published(...services: string[]): Promise<void> {
  for (const name of services) {
    indexer.setService(aService(name));
    publisher.markDirty('shop', name, { kind: 'snapshot', initial: false });
  }
  await flushed();
  bus.changes.length = 0;
  bus.tries.length = 0;
}

function pod(name: string, ready: boolean, description = `${name} ${ready}`): void {
  indexer.setPod(aPod(name, { app: 'web' }, { ready }));
  publisher.markDirty('shop', 'web', { kind: 'pod', name }, { description, observedAt: clock.now() });
}

describe('coalescing', () => {
  test('events of one batch become one Change with every cause', async () => {
    await published('web');
    pod('p', false);
    pod('q', true);
    pod('p', true);
    await flushed();
    expect(bus.changes).toHaveLength(1);
    expect(bus.changes[0]?.facts).toMatchObject([
      { name: 'p', pod: { ready: true } },
      { name: 'q', pod: { ready: true } },
    ]);
    expect(bus.changes[0]?.causes.first.map(({ description }) => description)).toEqual(['p false', 'q true', 'p true']);
  });

  test('events during an append become one Change with the state after it', async () => {
    await published('web');
    bus.shut = true;
    pod('p', false);
    await flushed();
    for (let i = 0; i < 50; i++) {
      pod('p', i % 2 === 0);
      await flushed();
    }
    expect(bus.tries).toHaveLength(1);
    bus.open();
    await flushed();
    expect(bus.tries).toHaveLength(2);
    expect(bus.changes.map(({ facts }) => facts)).toMatchObject([
      [{ pod: { ready: false } }],
      [{ pod: { ready: false } }],
    ]);
    expect(bus.changes[1]?.causes).toMatchObject({ first: { length: 8 }, more: 42 });
  });

  test('a Service is published at most once per append, and other Services in between', async () => {
    await published('web', 'db');
    bus.shut = true;
    pod('p', true);
    await flushed();
    publisher.markDirty('shop', 'db', { kind: 'service' });
    pod('p', false);
    publisher.markDirty('shop', 'db', { kind: 'service' });
    bus.open();
    await flushed();
    expect(bus.changes.map(({ key }) => key.service)).toEqual(['web', 'db', 'web']);
  });
});

describe('the checkpoint', () => {
  test('has the stamp of the last Change that the bus has accepted: one that was never published is no gap', async () => {
    const ports = { clock, random: seededRandom(1), logger: silentLogger };
    const publishedState = await PublishedState.claim({
      ...{ store: new MemoryStore(), cluster: 'c', fencingToken: 7 },
      ...ports,
    });
    publisher = new Publisher({ ...options(), publishedState });
    await published('web');
    bus.shut = true;
    indexer.setService(aService('db'));
    publisher.markDirty('shop', 'db', { kind: 'service' });
    await flushed();
    expect(bus.tries).toHaveLength(1);
    await publisher.checkpoint(true);
    expect(publishedState.lastStamp(0)).toEqual({ epoch: 7, sequence: 1 });
    bus.open();
    await flushed();
    await publisher.checkpoint(true);
    expect(publishedState.lastStamp(0)).toEqual({ epoch: 7, sequence: 2 });
  });
});

describe('yielding', () => {
  test('happens before each append, so that other work runs in between', async () => {
    bus = new GatedBus(64);
    const deferred: (() => void)[] = [];
    publisher = new Publisher({ ...options(), yieldQueue: new YieldQueue((callback) => deferred.push(callback)) });
    const services = Array.from({ length: 20 }, (_, i) => `web-${i}`);
    await published(...services);
    let yields = 0;
    for (; deferred.length > 0; yields++) {
      const before = bus.tries.length;
      deferred.shift()?.();
      await flushed();
      expect(bus.tries.length - before).toBe(1);
    }
    expect(yields).toBeGreaterThan(5);
    expect(bus.changes.map(({ key }) => key.service).sort()).toEqual(services.sort());
  });
});

describe('records', () => {
  test('are stamped in sequence, part by part', async () => {
    indexer.setService(aService('web'));
    for (let i = 0; i < 2 * factsPerChange; i++) indexer.setPod(aPod(`p${i}`, { app: 'web' }));
    publisher.markDirty('shop', 'web', { kind: 'snapshot', initial: true });
    await flushed();
    pod('p1', false);
    await flushed();
    expect(bus.changes.map(({ stamp }) => stamp)).toEqual([1, 2, 3, 4].map((sequence) => ({ epoch: 7, sequence })));
    expect(new Set(bus.tries.flat())).toHaveProperty('size', 4);
  });

  test('carry the resourceVersions in the last part', async () => {
    indexer.setService(aService('web'));
    for (let i = 0; i < factsPerChange; i++) indexer.setPod(aPod(`p${i}`, { app: 'web' }));
    publisher.markDirty('shop', 'web', { kind: 'snapshot', initial: true });
    await flushed();
    expect(bus.changes.map(({ resourceVersions }) => resourceVersions)).toEqual([
      undefined,
      { endpoints: '3', endpointslices: '4' },
    ]);
  });

  test('start with a snapshot of every Service, whatever the first reason', async () => {
    indexer.setService(aService('web'));
    publisher.markDirty('shop', 'web', { kind: 'endpoints', uid: 'u' });
    await flushed();
    publisher.markDirty('shop', 'web', { kind: 'endpoints', uid: 'u' });
    await flushed();
    expect(bus.changes.map(({ snapshot }) => snapshot?.first)).toEqual([true, undefined]);
  });

  test('start with a snapshot again after nothing of the Service was left', async () => {
    await published('web');
    indexer.deleteService('shop', 'web');
    publisher.markDirty('shop', 'web', { kind: 'service' });
    await flushed();
    publisher.markDirty('shop', 'web', { kind: 'endpoints', uid: 'u' });
    await flushed();
    expect(bus.changes.map(({ snapshot }) => snapshot?.first)).toEqual([undefined, true]);
  });

  test('start with a snapshot again after the Service was dropped', async () => {
    await published('web');
    expect([...publisher.published]).toEqual([{ cluster: 'c', namespace: 'shop', service: 'web' }]);
    publisher.published.delete('c/shop/web');
    pod('p', true);
    await flushed();
    expect(bus.changes[0]?.snapshot).toMatchObject({ first: true, last: true });
  });
});

describe('a limit of the bus', () => {
  const setEndpoints = (bytes: number) => {
    const { metadata } = someEndpoints('web');
    indexer.endpoints.set('shop/web', {
      metadata: { ...metadata, annotations: { a: 'x'.repeat(bytes) } },
      subsets: [],
    });
  };

  test('splits a snapshot until each part fits; the parts are stamped and bracketed as one', async () => {
    bus.limits = { recordBytes: 2_000, messageBytes: 10_000 };
    indexer.setService(aService('web'));
    for (let i = 0; i < 50; i++) indexer.setPod(aPod(`p${i}`, { app: 'web' }));
    publisher.markDirty('shop', 'web', { kind: 'snapshot', initial: true });
    await flushed();
    const parts = bus.changes.length;
    expect(parts).toBeGreaterThan(3);
    for (const change of bus.changes) expect(encodeMessage(change).length).toBeLessThanOrEqual(2_000);
    expect(bus.changes.map(({ stamp }) => stamp.sequence)).toEqual(bus.changes.map((_, i) => i + 1));
    expect(bus.changes.map(({ previousSequence }) => previousSequence)).toEqual(bus.changes.map((_, i) => i));
    expect(bus.changes.map(({ snapshot }) => snapshot?.first)).toEqual(bus.changes.map((_, i) => i === 0));
    expect(bus.changes.map(({ snapshot }) => snapshot?.last)).toEqual(bus.changes.map((_, i) => i === parts - 1));
    expect(bus.changes.flatMap(({ facts }) => facts)).toHaveLength(52);
    expect(bus.changes.map(({ resourceVersions }) => resourceVersions !== undefined)).toEqual(
      bus.changes.map((_, i) => i === parts - 1),
    );
  });

  test('lets one large fact pass, which the bus sends in chunks', async () => {
    bus.limits = { recordBytes: 2_000, messageBytes: 10_000 };
    setEndpoints(5_000);
    publisher.markDirty('shop', 'web', { kind: 'endpoints', uid: 'u' });
    await flushed();
    expect(bus.changes.at(-1)?.facts).toMatchObject([{ kind: 'endpoints' }]);
  });

  test('replaces a Service with a larger object by the reason, and publishes a snapshot once it fits', async () => {
    await published('web', 'db');
    bus.limits = { recordBytes: 2_000, messageBytes: 10_000 };
    setEndpoints(20_000);
    publisher.markDirty('shop', 'web', { kind: 'endpoints', uid: 'u' });
    publisher.markDirty('shop', 'db', { kind: 'service' });
    await flushed();
    expect(bus.changes).toMatchObject([
      {
        key: { service: 'web' },
        facts: [],
        unpublishable: expect.stringMatching(/^endpoints has 20\d+ bytes, more than the 10000 that the bus accepts$/),
      },
      { key: { service: 'db' }, facts: [{ kind: 'service' }, { kind: 'topology' }] },
    ]);
    expect(bus.changes[0]?.snapshot).toBeUndefined();
    expect(bus.changes[1]?.previousSequence).toBe(bus.changes[0]?.stamp.sequence);
    setEndpoints(10);
    publisher.markDirty('shop', 'web', { kind: 'endpoints', uid: 'u' });
    await flushed();
    expect(bus.changes.at(-1)).toMatchObject({ snapshot: { first: true, last: true }, facts: { length: 3 } });
  });
});

describe('a failing bus', () => {
  test('gets the same records with the same ids again before any later ones', async () => {
    await published('web');
    bus.failures = 3;
    pod('p', false);
    await flushed();
    pod('p', true);
    for (let i = 0; i < 3; i++) {
      expect(bus.changes).toEqual([]);
      expect(clock.step(clock.now() + 60_000)).toBe(true);
      await flushed();
    }
    expect(bus.tries).toEqual([['c/7/2'], ['c/7/2'], ['c/7/2'], ['c/7/2'], ['c/7/3']]);
    expect(bus.changes.map(({ facts }) => facts)).toMatchObject([
      [{ pod: { ready: false } }],
      [{ pod: { ready: true } }],
    ]);
  });

  test('is retried no more often than the backoff allows', async () => {
    await published('web');
    bus.failures = Number.POSITIVE_INFINITY;
    pod('p', false);
    const until = clock.now() + 60_000;
    do await flushed();
    while (clock.step(until));
    expect(bus.tries.length).toBeGreaterThan(10);
    expect(bus.tries.length).toBeLessThan(35);
  });
});

describe('close', () => {
  test('stops retries and publishing', async () => {
    await published('web');
    bus.failures = Number.POSITIVE_INFINITY;
    pod('p', false);
    await flushed();
    publisher.close();
    while (clock.step(clock.now() + 60_000)) await flushed();
    const { length } = bus.tries;
    pod('p', true);
    await flushed();
    expect(bus.tries).toHaveLength(length);
    expect(clock.nextAt()).toBeUndefined();
  });

  test('of the bus stops publishing silently', async () => {
    await published('web');
    await bus.close();
    pod('p', true);
    await flushed();
    expect(bus.changes).toEqual([]);
    expect(clock.nextAt()).toBeUndefined();
  });
});

describe('a watch echo', () => {
  const watchEcho = () => {
    const cause = { description: 'Endpoints web modified', observedAt: clock.now() };
    publisher.markDirty('shop', 'web', { kind: 'endpoints', uid: 'u', isWatchEcho: true }, cause);
  };

  test('is published within a quarter of a second', async () => {
    await published('web');
    indexer.endpoints.set('shop/web', someEndpoints('web'));
    watchEcho();
    await advance(clock, 0);
    expect(bus.changes).toHaveLength(0);
    await advance(clock, 250);
    expect(bus.changes).toMatchObject([{ facts: [{ kind: 'endpoints' }], causes: { first: [{}] } }]);
  });

  test.each(['before', 'after'])('%s another event shares its Change, and is no cause of it', async (when) => {
    await published('web');
    indexer.endpoints.set('shop/web', someEndpoints('web'));
    if (when === 'before') watchEcho();
    pod('p', true);
    if (when === 'after') watchEcho();
    await advance(clock, 0);
    expect(bus.changes.map(({ facts }) => facts.map(({ kind }) => kind).sort())).toEqual([['endpoints', 'pod']]);
    expect(bus.changes[0]?.causes.first.map(({ description }) => description)).toEqual(['p true']);
    await advance(clock, 250);
    expect(bus.changes).toHaveLength(1);
  });

  test('is published at once when the watcher stops', async () => {
    await published('web');
    indexer.endpoints.set('shop/web', someEndpoints('web'));
    watchEcho();
    await publisher.idle();
    expect(bus.changes).toHaveLength(1);
  });
});

describe('delivery within the process', () => {
  const bothDelivered = () => bus.delivered.map(({ key }) => key.service);

  test('begins after the first Change of a partition, and no Change waits for the log', async () => {
    bus.delivers = true;
    await published('web');
    expect(bothDelivered()).toEqual([]);
    pod('p', false);
    await flushed();
    pod('p', true);
    await flushed();
    expect(bothDelivered()).toEqual(['web', 'web']);
    expect(bus.changes).toEqual([]);
  });

  test('stores no digest before the log has the Changes', async () => {
    const ports = { clock, random: seededRandom(1), logger: silentLogger };
    const publishedState = await PublishedState.claim({
      ...{ store: new MemoryStore(), cluster: 'c', fencingToken: 7 },
      ...ports,
    });
    publisher = new Publisher({ ...options(), publishedState });
    bus.delivers = true;
    await published('web');
    await publisher.checkpoint(true);
    expect(publisher.awaitingCheckpoint).toBe(0);
    pod('p', false);
    await flushed();
    await publisher.checkpoint(true);
    expect(publisher.awaitingCheckpoint).toBe(0);
    bus.flush();
    await flushed();
    expect(publisher.awaitingCheckpoint).toBe(1);
  });
});
