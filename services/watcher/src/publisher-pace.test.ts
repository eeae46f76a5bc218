import { encodeMessage } from '@sluice/messages';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { Indexer } from './indexer.ts';
import { Publisher } from './publisher.ts';
import { GatedBus } from './testing/gated-bus.ts';
import { aService } from './testing/objects.ts';

/** The rate of the second resync within half an hour, in bytes per millisecond. */
const rate = (8 * 1024 * 1024) / 1_000;
const limits = { recordBytes: 1_000_000, messageBytes: 10_000_000 };
let clock: VirtualClock;
let bus: GatedBus;
let publisher: Publisher;

beforeEach(() => {
  clock = new VirtualClock(0);
  bus = new GatedBus();
  bus.limits = limits;
  const indexer = new Indexer();
  indexer.resourceVersions.set('endpoints', '3').set('endpointslices', '4');
  for (const name of services) indexer.setService(aService(name, { annotations: { a: 'x'.repeat(rate) } }));
  const ports = { clock, random: seededRandom(1), logger: silentLogger };
  publisher = new Publisher({ cluster: 'c', fencingToken: 7, bus, indexer, ...ports });
});

const services = ['web', 'db', 'mail'];

function markAll(): void {
  for (const name of services) publisher.markDirty('shop', name, { kind: 'snapshot', initial: false });
}

const published = () => bus.changes.map(({ key }) => key.service);
const appends = () => bus.tries.map(({ length }) => length);

describe('after a second resync', () => {
  beforeEach(() => {
    publisher.resyncRequested(0);
    publisher.resyncRequested(0);
  });

  test('records are appended one by one, no faster than the pace', async () => {
    markAll();
    await advance(clock, 0);
    expect(published()).toEqual(['web']);
    const [first] = bus.changes;
    const bytes = first === undefined ? 0 : encodeMessage(first).length;
    await advance(clock, bytes / rate - 0.001);
    expect(published()).toEqual(['web']);
    await advance(clock, 0.001);
    expect(published()).toEqual(['web', 'db']);
    await advance(clock, 10);
    expect([published(), appends()]).toEqual([services, [1, 1, 1]]);
  });

  test('records are not delivered within the process either', async () => {
    markAll();
    await advance(clock, 10);
    bus.delivers = true;
    markAll();
    await advance(clock, 10);
    expect([bus.delivered, published().length]).toEqual([[], 6]);
  });

  test('nothing is published anymore once the watcher stops', async () => {
    markAll();
    await advance(clock, 0);
    publisher.close();
    await advance(clock, 60_000);
    expect(published()).toEqual(['web']);
  });

  test('a bus without limits gets all records at once, because it loses none', async () => {
    bus.limits = { recordBytes: Number.POSITIVE_INFINITY, messageBytes: Number.POSITIVE_INFINITY };
    markAll();
    await advance(clock, 0);
    expect(appends()).toEqual([3]);
  });

  test('records are appended at once again half an hour later', async () => {
    await advance(clock, 30 * 60_000 + 1);
    markAll();
    await advance(clock, 0);
    expect(appends()).toEqual([3]);
  });
});

test.each<[string, readonly number[]]>([
  ['after a single resync', [0]],
  ['after resyncs of other partitions', [1, 1, -1, -1]],
])('records are appended at once %s', async (_, partitions) => {
  for (const partition of partitions) publisher.resyncRequested(partition);
  markAll();
  await advance(clock, 0);
  expect(appends()).toEqual([3]);
});
