import { seededRandom, silentLogger, VirtualClock, YieldQueue } from '@sluice/runtime';
import { beforeEach, describe, expect, test } from 'vitest';
import { factsPerChange } from './compose.ts';
import { Inventory } from './inventory.ts';
import { Publisher, type PublisherOptions } from './publisher.ts';
import { GatedBus } from './testing/gated-bus.ts';
import { aPod, aService } from './testing/objects.ts';

let clock: VirtualClock;
let inventory: Inventory;
let bus: GatedBus;
let publisher: Publisher;

beforeEach(() => {
  clock = new VirtualClock(1_000);
  inventory = new Inventory();
  bus = new GatedBus();
  publisher = new Publisher(options());
});

function options(): PublisherOptions {
  const versions = () => ({ endpoints: '3', endpointslices: '4' });
  const ports = { clock, random: seededRandom(1), logger: silentLogger };
  return { cluster: 'c', epoch: 7, bus, inventory, versions, ...ports };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** The Service and its snapshot are out; from here on changes are told. */
async function told(...services: string[]): Promise<void> {
  for (const name of services) {
    inventory.setService(aService(name));
    publisher.mark('shop', name, { on: 'snapshot', start: false });
  }
  await settled();
  bus.changes.length = 0;
  bus.tries.length = 0;
}

function pod(name: string, ready: boolean, description = `${name} ${ready}`): void {
  inventory.setPod(aPod(name, { app: 'web' }, { ready }));
  publisher.mark('shop', 'web', { on: 'pod', name }, { description, observedAt: clock.now() });
}

describe('coalescing', () => {
  test('what happens in one turn is one Change, with every cause', async () => {
    await told('web');
    pod('p', false);
    pod('q', true);
    pod('p', true);
    await settled();
    expect(bus.changes).toHaveLength(1);
    expect(bus.changes[0]?.facts).toMatchObject([
      { name: 'p', pod: { ready: true } },
      { name: 'q', pod: { ready: true } },
    ]);
    expect(bus.changes[0]?.causes.first.map(({ description }) => description)).toEqual(['p false', 'q true', 'p true']);
  });

  test('what happens while an append is under way waits, and is told as it is then', async () => {
    await told('web');
    bus.shut = true;
    pod('p', false);
    await settled();
    for (let i = 0; i < 50; i++) {
      pod('p', i % 2 === 0);
      await settled();
    }
    expect(bus.tries).toHaveLength(1);
    bus.open();
    await settled();
    expect(bus.tries).toHaveLength(2);
    expect(bus.changes.map(({ facts }) => facts)).toMatchObject([
      [{ pod: { ready: false } }],
      [{ pod: { ready: false } }],
    ]);
    expect(bus.changes[1]?.causes).toMatchObject({ first: { length: 8 }, more: 42 });
  });

  test('a Service is told at most once an append, the others in between', async () => {
    await told('web', 'db');
    bus.shut = true;
    pod('p', true);
    await settled();
    publisher.mark('shop', 'db', { on: 'service' });
    pod('p', false);
    publisher.mark('shop', 'db', { on: 'service' });
    bus.open();
    await settled();
    expect(bus.changes.map(({ key }) => key.service)).toEqual(['web', 'db', 'web']);
  });
});

describe('turns', () => {
  test('are taken for each partition, so that everything else is attended to in between', async () => {
    bus = new GatedBus(64);
    const deferred: (() => void)[] = [];
    publisher = new Publisher({ ...options(), turns: new YieldQueue((callback) => deferred.push(callback)) });
    const services = Array.from({ length: 20 }, (_, i) => `web-${i}`);
    await told(...services);
    let given = 0;
    for (; deferred.length > 0; given++) {
      const before = bus.tries.length;
      deferred.shift()?.();
      await settled();
      expect(bus.tries.length - before).toBe(1);
    }
    expect(given).toBeGreaterThan(5);
    expect(bus.changes.map(({ key }) => key.service).sort()).toEqual(services.sort());
  });
});

describe('what is sent', () => {
  test('is stamped in order, from part to part', async () => {
    inventory.setService(aService('web'));
    for (let i = 0; i < 2 * factsPerChange; i++) inventory.setPod(aPod(`p${i}`, { app: 'web' }));
    publisher.mark('shop', 'web', { on: 'snapshot', start: true });
    await settled();
    pod('p1', false);
    await settled();
    expect(bus.changes.map(({ stamp }) => stamp)).toEqual([1, 2, 3, 4].map((sequence) => ({ epoch: 7, sequence })));
    expect(new Set(bus.tries.flat())).toHaveProperty('size', 4);
  });

  test('says with its last part how far the watcher has come', async () => {
    inventory.setService(aService('web'));
    for (let i = 0; i < factsPerChange; i++) inventory.setPod(aPod(`p${i}`, { app: 'web' }));
    publisher.mark('shop', 'web', { on: 'snapshot', start: true });
    await settled();
    expect(bus.changes.map(({ resourceVersions }) => resourceVersions)).toEqual([
      undefined,
      { endpoints: '3', endpointslices: '4' },
    ]);
  });

  test('begins with a snapshot for every Service, whatever is said of it first', async () => {
    inventory.setService(aService('web'));
    publisher.mark('shop', 'web', { on: 'endpoints', uid: 'u' });
    await settled();
    publisher.mark('shop', 'web', { on: 'endpoints', uid: 'u' });
    await settled();
    expect(bus.changes.map(({ snapshot }) => snapshot?.first)).toEqual([true, undefined]);
  });

  test('begins with a snapshot again for one of which nothing was left', async () => {
    await told('web');
    inventory.deleteService('shop', 'web');
    publisher.mark('shop', 'web', { on: 'service' });
    await settled();
    publisher.mark('shop', 'web', { on: 'endpoints', uid: 'u' });
    await settled();
    expect(bus.changes.map(({ snapshot }) => snapshot?.first)).toEqual([undefined, true]);
  });

  test('begins anew for a Service that was forgotten', async () => {
    await told('web');
    expect([...publisher.told]).toEqual([{ cluster: 'c', namespace: 'shop', service: 'web' }]);
    publisher.forget('shop', 'web');
    pod('p', true);
    await settled();
    expect(bus.changes[0]?.snapshot).toMatchObject({ first: true, last: true });
  });
});

describe('a bus that fails', () => {
  test('gets the same records with the same ids again, before any later ones', async () => {
    await told('web');
    bus.failures = 3;
    pod('p', false);
    await settled();
    pod('p', true);
    for (let i = 0; i < 3; i++) {
      expect(bus.changes).toEqual([]);
      expect(clock.step(clock.now() + 60_000)).toBe(true);
      await settled();
    }
    expect(bus.tries).toEqual([['c/7/2'], ['c/7/2'], ['c/7/2'], ['c/7/2'], ['c/7/3']]);
    expect(bus.changes.map(({ facts }) => facts)).toMatchObject([
      [{ pod: { ready: false } }],
      [{ pod: { ready: true } }],
    ]);
  });

  test('is not asked more often than the back-off allows', async () => {
    await told('web');
    bus.failures = Number.POSITIVE_INFINITY;
    pod('p', false);
    const until = clock.now() + 60_000;
    do await settled();
    while (clock.step(until));
    expect(bus.tries.length).toBeGreaterThan(10);
    expect(bus.tries.length).toBeLessThan(35);
  });
});

describe('close', () => {
  test('ends the retries, and nothing more is sent', async () => {
    await told('web');
    bus.failures = Number.POSITIVE_INFINITY;
    pod('p', false);
    await settled();
    publisher.close();
    while (clock.step(clock.now() + 60_000)) await settled();
    const { length } = bus.tries;
    pod('p', true);
    await settled();
    expect(bus.tries).toHaveLength(length);
    expect(clock.nextAt()).toBeUndefined();
  });

  test('of the bus ends publishing without a word', async () => {
    await told('web');
    await bus.close();
    pod('p', true);
    await settled();
    expect(bus.changes).toEqual([]);
    expect(clock.nextAt()).toBeUndefined();
  });
});
