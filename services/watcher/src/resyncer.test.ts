import { formatServiceKey, partitionOf, type ResyncRequest, shortDigest } from '@sluice/messages';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { MemoryStore } from '@sluice/store';
import { beforeEach, describe, expect, test } from 'vitest';
import { digestService } from './compose-changes.ts';
import { Indexer } from './indexer.ts';
import { PublishedState } from './published-state.ts';
import { Publisher } from './publisher.ts';
import { Resyncer, type ResyncerOptions } from './resyncer.ts';
import { GatedBus } from './testing/gated-bus.ts';
import { aPod, aService, aSlice, someEndpoints } from './testing/objects.ts';
import { ScriptedReader } from './testing/scripted-reader.ts';

const partitions = 4;
const services = ['web', 'db', 'mail', 'cart', 'shop'];
let clock: VirtualClock;
let bus: GatedBus;
let indexer: Indexer;
let publisher: Publisher;

beforeEach(() => {
  clock = new VirtualClock(1_000);
  bus = new GatedBus(partitions);
  indexer = new Indexer();
  publisher = newPublisher();
  for (const name of services) indexer.setService(aService(name));
});

function newPublisher(): Publisher {
  const ports = { cluster: 'c', fencingToken: 7, bus, clock, random: seededRandom(1), logger: silentLogger };
  indexer.resourceVersions.set('endpoints', '3').set('endpointslices', '4');
  return new Publisher({ ...ports, indexer });
}

function resyncer(given: Partial<ResyncerOptions> = {}): Resyncer {
  const options = { cluster: 'c', bus, clock, logger: silentLogger, reader: new ScriptedReader(), indexer, publisher };
  return new Resyncer({ ...options, publishedState: undefined, ...given });
}

const keyOf = (service: string, namespace = 'shop') => formatServiceKey({ cluster: 'c', namespace, service });
const partition = (service: string) => partitionOf(keyOf(service), partitions);
const request = (scope: ResyncRequest['scope']): ResyncRequest => ({ kind: 'resync', reason: 'lost', scope });

/** The Services published since the last call. */
async function published(): Promise<string[]> {
  await advance(clock, 0);
  return bus.changes.splice(0).map(({ key }) => key.service);
}

describe('a request', () => {
  test('for a partition concerns its Services, and names itself as the cause', async () => {
    const inPartition = services.filter((service) => partition(service) === partition('web'));
    expect(inPartition.length).toBeLessThan(services.length);
    expect(resyncer().answer(request({ partition: partition('web') }))).toEqual(inPartition.map((name) => keyOf(name)));
    await advance(clock, 0);
    expect(bus.changes[0]?.causes.first).toEqual([{ description: 'resync: lost', observedAt: 1_000 }]);
    expect((await published()).sort()).toEqual(inPartition.toSorted());
  });

  test('for a Service concerns it alone', async () => {
    expect(resyncer().answer(request({ key: { cluster: 'c', namespace: 'shop', service: 'web' } }))).toEqual([
      keyOf('web'),
    ]);
    await advance(clock, 0);
    expect(bus.changes).toMatchObject([
      { snapshot: { initial: false }, causes: { first: [{ description: 'resync: lost' }] } },
    ]);
  });

  test.each<[string, ResyncRequest['scope']]>([
    ['for a partition of another cluster', { partition: 0, cluster: 'd' }],
    ['for a Service of another cluster', { key: { cluster: 'd', namespace: 'shop', service: 'web' } }],
    ['for a Service of a namespace that is not served', { key: { cluster: 'c', namespace: 'depot', service: 'web' } }],
    [
      'for a restored cluster, which is no matter of single Services,',
      { restoredCluster: 'c', stamp: { epoch: 7, sequence: 1 } },
    ],
  ])('%s concerns nothing', async (_, scope) => {
    const reader = Object.assign(new ScriptedReader(), { namespaces: { except: ['depot'] } });
    expect(resyncer({ reader }).answer(request(scope))).toEqual([]);
    expect(await published()).toEqual([]);
  });

  test('for the same partition again is answered more slowly, because the last answer did not arrive', async () => {
    bus = new GatedBus(1);
    bus.limits = { recordBytes: 1_000_000, messageBytes: 1_000_000 };
    publisher = newPublisher();
    for (let i = 0; i < 2; i++) {
      resyncer().answer(request({ partition: 0 }));
      await advance(clock, 1_000);
    }
    expect(bus.tries.map(({ length }) => length)).toEqual([5, 1, 1, 1, 1, 1]);
  });

  test('that was lost concerns everything', async () => {
    expect(resyncer().answer(null)).toEqual(services.map((name) => keyOf(name)));
    await advance(clock, 0);
    expect(bus.changes[0]?.causes.first).toEqual([{ description: 'resync', observedAt: 1_000 }]);
    expect((await published()).sort()).toEqual(services.toSorted());
  });
});

describe('a Service of which nothing is left', () => {
  beforeEach(async () => {
    resyncer().resync();
    await published();
    indexer.deleteService('shop', 'web');
  });

  test('is published once more, in case its deletion was lost', async () => {
    expect(resyncer().resync()).toContain(keyOf('web'));
    expect(await published()).toContain('web');
    expect(resyncer().resync()).not.toContain(keyOf('web'));
    expect(await published()).not.toContain('web');
  });

  test('is kept if another partition is requested', async () => {
    const other = services.find((service) => partition(service) !== partition('web')) ?? '';
    expect(resyncer().answer(request({ partition: partition(other) }))).not.toContain(keyOf('web'));
    expect(resyncer().answer(request({ partition: partition('web') }))).toContain(keyOf('web'));
  });
});

describe('at the start', () => {
  let store: MemoryStore;

  /** The next watcher, after one that has published the current state of these Services. */
  async function successor(...published: readonly string[]): Promise<Resyncer> {
    store = new MemoryStore();
    const digests = published.map((service) => {
      const digest = digestService(indexer, 'shop', service);
      return [keyOf(service), digest && shortDigest(digest)] as const;
    });
    const state = await claim(7);
    await state.commitRequestOffset({ offset: 0, id: '', streamId: 'memory' }, []);
    await state.commitDigests(new Map(digests), new Map());
    return resyncer({ publishedState: await claim(8) });
  }

  const claim = (fencingToken: number) =>
    PublishedState.claim({ store, cluster: 'c', fencingToken, clock, random: seededRandom(1), logger: silentLogger });

  test('every Service is published, as initial', async () => {
    resyncer().publishInitial();
    await advance(clock, 0);
    expect(bus.changes.map(({ snapshot }) => snapshot?.initial)).toEqual(services.map(() => true));
    expect(bus.changes[0]?.causes.first).toEqual([{ description: 'watcher started', observedAt: 1_000 }]);
  });

  test('a Pod that went while nobody watched is named', async () => {
    const slice = aSlice('web-1', 'web');
    const endpoint = (name: string) => ({
      ...{ addresses: ['10.0.0.1'], conditions: { ready: true } },
      targetRef: { kind: 'Pod', namespace: 'shop', name },
    });
    indexer.setPod(aPod('web-a', { app: 'web' }));
    indexer.setSlice({ ...slice, endpoints: ['web-a', 'web-b', 'web-c'].map(endpoint) });
    resyncer().publishInitial();
    await advance(clock, 0);
    const causes = bus.changes.flatMap(({ causes }) => causes.first.map(({ description }) => description));
    expect(new Set(causes)).toEqual(
      new Set(['watcher started', 'watcher started and found Pod shop/web-b gone, and 1 more']),
    );
  });

  test('only Services that differ from what a previous watcher published are', async () => {
    const next = await successor(...services);
    indexer.setService(aService('db', { labels: { team: 'x' } }));
    indexer.deleteService('shop', 'mail');
    indexer.setService(aService('new'));
    next.publishInitial();
    expect((await published()).sort()).toEqual(['db', 'mail', 'new']);
  });

  test('others need no snapshot for their next Change', async () => {
    (await successor(...services)).publishInitial();
    publisher.markDirty('shop', 'web', { kind: 'service' });
    await advance(clock, 0);
    expect(bus.changes.map(({ key, snapshot }) => [key.service, snapshot])).toEqual([['web', undefined]]);
  });

  test('Endpoints without a Service are, to be swept, unless leader election uses them', async () => {
    const { metadata } = someEndpoints('lock');
    const annotations = { 'control-plane.alpha.kubernetes.io/leader': '{}' };
    indexer.endpoints.set('shop/lock', { metadata: { ...metadata, annotations }, subsets: [] });
    indexer.endpoints.set('shop/left', someEndpoints('left'));
    (await successor(...services, 'left', 'lock')).publishInitial();
    expect(await published()).toEqual(['left']);
  });
});
