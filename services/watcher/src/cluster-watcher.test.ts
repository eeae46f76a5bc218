import { LogTruncatedError } from '@sluice/bus';
import { type Resource, watchedResources } from '@sluice/kubernetes';
import { type Change, encodeMessage, type ResyncRequest } from '@sluice/messages';
import { type LogFields, seededRandom, silentLogger, VirtualClock } from '@sluice/runtime';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ClusterWatcher } from './cluster-watcher.ts';
import { GatedBus } from './testing/gated-bus.ts';
import { malformedPod, rawEndpoints, rawPod, rawService, rawSlice } from './testing/raw-objects.ts';
import { ScriptedReader } from './testing/scripted-reader.ts';

const resyncPeriodMs = 3_600_000;
let clock: VirtualClock;
let reader: ScriptedReader;
let bus: GatedBus;
let watcher: ClusterWatcher;
let stop: AbortController;
let running: Promise<void>;
let malformed: Resource[];
let warned: (LogFields | undefined)[];

beforeEach(() => {
  clock = new VirtualClock(1_000_000);
  reader = new ScriptedReader();
  bus = new GatedBus();
  stop = new AbortController();
  malformed = [];
  warned = [];
  watcher = new ClusterWatcher({
    cluster: 'c',
    epoch: 1,
    reader,
    bus,
    clock,
    random: seededRandom(1),
    logger: { ...silentLogger, warn: (_message, fields) => void warned.push(fields) },
    resyncPeriodMs,
    onMalformed: (resource) => malformed.push(resource),
  });
  reader.holds('services', [rawService('web'), rawService('db')]);
  reader.holds('pods', [rawPod('web-1'), rawPod('web-2')]);
});

afterEach(async () => {
  stop.abort();
  await running;
});

/** Lets the reflectors get on; those that list again first wait a little. */
async function settle(ms = 5_000): Promise<void> {
  const until = clock.now() + ms;
  do await new Promise((resolve) => setImmediate(resolve));
  while (clock.step(until));
}

async function start(): Promise<void> {
  running = watcher.run(stop.signal);
  await settle();
}

/** What was told since the last time: per Change the Service, and the facts by name. */
function told(): Record<string, string[]>[] {
  return bus.changes.splice(0).map(({ key, facts, snapshot }: Change) => ({
    [snapshot === undefined ? key.service : `${key.service} ${snapshot.initial ? 'start' : 'snapshot'}`]: facts.map(
      (fact) => {
        if (fact.kind === 'pod') return `${fact.name} ${fact.pod === null ? 'gone' : fact.pod.ready}`;
        if (fact.kind === 'slice')
          return `${fact.name} ${fact.slice === null ? 'gone' : fact.slice.metadata.resourceVersion}`;
        if (fact.kind === 'service') return fact.service === null ? 'service gone' : 'service';
        return fact.kind;
      },
    ),
  }));
}

describe('at the start', () => {
  test.each(watchedResources)('nothing is told before the list of %s is in (A9)', async (late) => {
    reader.shut(late);
    let synced = false;
    void watcher.synced.then(() => {
      synced = true;
    });
    await start();
    if (late !== 'pods') reader.send('pods', { type: 'MODIFIED', object: rawPod('web-1', '11', false) });
    watcher.resync();
    await settle();
    expect([bus.changes.length, synced]).toEqual([0, false]);
    reader.open(late);
    await settle();
    expect(synced).toBe(true);
    const [web, db, ...others] = told();
    const pods = [`web-1 ${late === 'pods'}`, 'web-2 true'];
    expect(web?.['web start']?.toSorted()).toEqual(['service', 'topology', ...pods]);
    expect([db, ...others]).toEqual([{ 'db start': ['service', 'topology'] }]);
  });

  test('Endpoints and slices without a Service are told too, to be swept', async () => {
    reader.holds('services', []);
    reader.holds('endpoints', [rawEndpoints('left')]);
    reader.holds('endpointslices', [rawSlice('s', 'lost')]);
    await start();
    expect(told()).toEqual([{ 'left start': ['endpoints'] }, { 'lost start': ['s 1'] }]);
  });
});

describe('a list that must be made again', () => {
  test('finds what was deleted, added and changed meanwhile (C10)', async () => {
    await start();
    told();
    reader.holds('pods', [rawPod('web-2', '12', false), rawPod('web-3', '13')], '14');
    reader.expire('pods');
    await settle();
    expect(told()).toEqual([{ web: ['web-2 false', 'web-3 true', 'web-1 gone'] }]);
  });

  test('finds Services gone and new', async () => {
    await start();
    told();
    reader.holds('services', [rawService('web'), rawService('mail', '12')], '12');
    reader.expire('services');
    await settle();
    expect(told()).toEqual([
      { web: ['service', 'topology'] },
      { 'mail snapshot': ['service', 'topology'] },
      { db: ['service gone'] },
    ]);
  });

  test('of slices tells every Service how far it has come: an object that nobody saw is gone', async () => {
    await start();
    told();
    reader.holds('endpointslices', [rawSlice('s', 'web', '20')], '33');
    reader.expire('endpointslices');
    await settle();
    expect(bus.changes.map(({ key, resourceVersions }) => [key.service, resourceVersions])).toEqual([
      ['web', { endpoints: '10', endpointslices: '33' }],
      ['db', { endpoints: '10', endpointslices: '33' }],
    ]);
    expect(told()).toEqual([{ web: ['s 20'] }, { db: [] }]);
  });
});

describe('a malformed object', () => {
  test('in a list is skipped, counted and named; the rest goes on', async () => {
    reader.holds('pods', [malformedPod('web-0'), rawPod('web-1')]);
    await start();
    expect(told()[0]).toEqual({ 'web start': ['service', 'topology', 'web-1 true'] });
    expect(malformed).toEqual(['pods']);
    expect(warned).toMatchObject([{ resource: 'pods', why: expect.stringContaining('web-0') }]);
  });

  test('in a watch leaves what is known; what comes with it is told', async () => {
    await start();
    told();
    reader.send(
      'pods',
      { type: 'MODIFIED', object: malformedPod('web-1', '11') },
      { type: 'MODIFIED', object: rawPod('web-2', '12', false) },
    );
    await settle();
    expect(told()).toEqual([{ web: ['web-2 false'] }]);
    expect(malformed).toEqual(['pods']);
  });

  test('that is deleted is gone, malformed as it may be', async () => {
    await start();
    told();
    reader.send('pods', { type: 'DELETED', object: malformedPod('web-1', '11') });
    await settle();
    expect(told()).toEqual([{ web: ['web-1 gone'] }]);
  });

  test('that a later list still has is not taken for deleted', async () => {
    await start();
    told();
    reader.holds('pods', [malformedPod('web-1', '12'), rawPod('web-2')], '12');
    reader.expire('pods');
    await settle();
    expect(told()).toEqual([]);
  });
});

describe('resync', () => {
  test('tells every Service all over again, and no start', async () => {
    await start();
    told();
    watcher.resync();
    await settle();
    const pods = ['web-1 true', 'web-2 true'];
    expect(told()).toEqual([
      { 'web snapshot': ['service', 'topology', ...pods] },
      { 'db snapshot': ['service', 'topology'] },
    ]);
  });

  test('tells once more of a Service that went, then never again', async () => {
    await start();
    reader.send('services', { type: 'DELETED', object: rawService('db', '11') });
    await settle();
    told();
    watcher.resync();
    await settle();
    expect(told().slice(1)).toEqual([{ 'db snapshot': [] }]);
    watcher.resync();
    await settle();
    expect(told()).toHaveLength(1);
  });

  test('comes by itself, between one and two periods after the last (A7)', async () => {
    await start();
    told();
    await settle(resyncPeriodMs - 10_000);
    expect(told()).toEqual([]);
    await settle(resyncPeriodMs + 10_000);
    expect(told()).toHaveLength(2);
  });
});

test('each partition is told a digest in each period, of one Service after the other (ADR 0017)', async () => {
  const options = { cluster: 'c', epoch: 1, reader, bus, clock, random: seededRandom(1), logger: silentLogger };
  watcher = new ClusterWatcher({ ...options, comparePeriodMs: 60_000 });
  await start();
  told();
  await settle(60_000);
  expect(told()).toEqual([{ web: [] }]);
  await settle(60_000);
  expect(told()).toHaveLength(1);
});

describe('a request to tell again', () => {
  const ask = async (request: Omit<ResyncRequest, 'kind' | 'reason'>) => {
    const payload = encodeMessage({ kind: 'resync', reason: 'lost', ...request });
    await bus.requests.append('requests', 0, [{ key: 'resync', id: 'r', headers: {}, payload }]);
    await settle();
  };
  const keyOf = (service: string, cluster = 'c') => ({ cluster, namespace: 'shop', service });

  test('a partition tells all its Services', async () => {
    await start();
    told();
    await ask({ scope: { partition: 0 } });
    expect(told().flatMap((change) => Object.keys(change))).toEqual(['web snapshot', 'db snapshot']);
    await ask({ scope: { partition: 1 } });
    expect(told()).toEqual([]);
  });

  test('a Service tells that one, also that there is nothing of it', async () => {
    await start();
    told();
    await ask({ scope: { key: keyOf('web') } });
    expect(told().flatMap((change) => Object.keys(change))).toEqual(['web snapshot']);
    await ask({ scope: { key: keyOf('never-seen') } });
    expect(told()).toEqual([{ 'never-seen snapshot': [] }]);
  });

  test('of another cluster, or before all lists are in, is left to the snapshots that come', async () => {
    reader.shut('pods');
    await start();
    await ask({ scope: { partition: 0 } });
    expect(told()).toEqual([]);
    reader.open('pods');
    await settle();
    expect(told()).toHaveLength(2);
    await ask({ scope: { key: keyOf('web', 'other') } });
    expect(told()).toEqual([]);
  });

  test('that cannot be read is ignored, and the next one is answered', async () => {
    await start();
    told();
    const payload = new TextEncoder().encode('{');
    await bus.requests.append('requests', 0, [{ key: 'resync', id: 'x', headers: {}, payload }]);
    await ask({ scope: { key: keyOf('web') } });
    expect(told()).toHaveLength(1);
  });

  test('that came before the watcher knew from where to read is answered by everything', async () => {
    const end = bus.requests.end.bind(bus.requests);
    const asked = Promise.withResolvers<void>();
    bus.requests.end = async (...args) => {
      await asked.promise;
      return end(...args);
    };
    await start();
    told();
    await ask({ scope: { partition: 0 } });
    asked.resolve();
    await settle();
    expect(told()).toHaveLength(2);
  });

  test('that was lost makes it tell everything', async () => {
    const read = bus.requests.read.bind(bus.requests);
    const lost = Promise.withResolvers<never>();
    bus.requests.read = (...args) => {
      bus.requests.read = read;
      return { ...read(...args), next: () => lost.promise, close() {} };
    };
    await start();
    told();
    lost.reject(new LogTruncatedError('gone'));
    await settle();
    expect(told()).toHaveLength(2);
    await ask({ scope: { key: keyOf('web') } });
    expect(told()).toHaveLength(1);
  });
});

test('the brackets and each Change carry the versions up to which the watcher speaks', async () => {
  reader.holds('endpoints', [], '20');
  reader.holds('endpointslices', [], '30');
  await start();
  const versions = { endpoints: '20', endpointslices: '30' };
  expect(bus.changes[0]).toMatchObject({ resourceVersions: versions, snapshot: { resourceVersions: versions } });
  bus.changes.length = 0;
  reader.send('endpointslices', { type: 'ADDED', object: rawSlice('s', 'web', '31') });
  await settle();
  reader.send('endpoints', { type: 'BOOKMARK', resourceVersion: '40' });
  reader.send('endpointslices', { type: 'BOOKMARK', resourceVersion: '41' });
  await settle();
  reader.send('pods', { type: 'MODIFIED', object: rawPod('web-1', '42', false) });
  await settle();
  expect(bus.changes.map((change) => change.resourceVersions)).toEqual([
    { endpoints: '20', endpointslices: '31' },
    { endpoints: '40', endpointslices: '41' },
  ]);
});

test('a Pod whose hostname alone changes is told, unlike upstream (C14)', async () => {
  await start();
  told();
  const pod = rawPod('web-1', '11');
  reader.send('pods', { type: 'MODIFIED', object: { ...pod, spec: { ...(pod.spec as object), hostname: 'h' } } });
  await settle();
  expect(told()).toEqual([{ web: ['web-1 true'] }]);
});

test('a Pod update that changes nothing of its endpoints is not told', async () => {
  await start();
  told();
  reader.send('pods', { type: 'MODIFIED', object: { ...rawPod('web-1', '11'), extra: 'x' } });
  await settle();
  expect(told()).toEqual([]);
});
