import { LogTruncatedError } from '@sluice/bus';
import { type Resource, watchedResources } from '@sluice/kubernetes';
import { type Change, encodeMessage, type ResyncRequest } from '@sluice/messages';
import { Semaphore, seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { type RecordingLogger, recordingLogger } from '@sluice/platform/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ClusterWatcher } from './cluster-watcher.ts';
import type { ClusterWatcherOptions } from './cluster-watcher-options.ts';
import { GatedBus } from './testing/gated-bus.ts';
import { malformedPod, rawEndpoints, rawPod, rawService, rawSlice } from './testing/objects.ts';
import { ScriptedReader } from './testing/scripted-reader.ts';

const resyncPeriodMs = 3_600_000;
const { selector: _, ...spec } = rawService('web').spec as Readonly<Record<string, unknown>>;
const withoutSelector = { ...rawService('web'), spec };
let clock: VirtualClock;
let reader: ScriptedReader;
let bus: GatedBus;
let watcher: ClusterWatcher;
let stop: AbortController;
let running: Promise<void>;
let malformed: Resource[];
let logger: RecordingLogger;

function create(options: Partial<ClusterWatcherOptions> = {}): ClusterWatcher {
  return new ClusterWatcher({
    cluster: 'c',
    fencingToken: 1,
    reader,
    bus,
    clock,
    random: seededRandom(1),
    logger,
    resyncPeriodMs,
    onMalformed: (resource) => malformed.push(resource),
    ...options,
  });
}

beforeEach(() => {
  clock = new VirtualClock(1_000_000);
  reader = new ScriptedReader();
  bus = new GatedBus();
  stop = new AbortController();
  malformed = [];
  logger = recordingLogger();
  watcher = create();
  reader.holds('services', [rawService('web'), rawService('db')]);
  reader.holds('pods', [rawPod('web-1'), rawPod('web-2')]);
});

afterEach(async () => {
  stop.abort();
  await running;
});

/** Runs everything due within `ms`; a reflector that relists first waits a little. */
async function advance(ms = 5_000): Promise<void> {
  const until = clock.now() + ms;
  do await new Promise((resolve) => setImmediate(resolve));
  while (clock.step(until));
}

async function start(): Promise<void> {
  running = watcher.run(stop.signal);
  await advance();
}

/** The Changes published since the last call: Service and facts by name. */
function published(): Record<string, string[]>[] {
  return bus.changes.splice(0).map(({ key, facts, snapshot }: Change) => ({
    [snapshot === undefined ? key.service : `${key.service} ${snapshot.initial ? 'initial' : 'snapshot'}`]: facts.map(
      (fact) => {
        if (fact.kind === 'pod') return `${fact.name} ${fact.pod === null ? 'deleted' : fact.pod.ready}`;
        if (fact.kind === 'slice')
          return `${fact.name} ${fact.slice === null ? 'deleted' : fact.slice.metadata.resourceVersion}`;
        if (fact.kind === 'service') return fact.service === null ? 'service deleted' : 'service';
        return fact.kind;
      },
    ),
  }));
}

describe('a standby', () => {
  test('keeps its caches current and publishes nothing until it is to publish', async () => {
    const elected = Promise.withResolvers<void>();
    watcher = new ClusterWatcher({
      ...{ cluster: 'c', fencingToken: 1, reader, bus, clock, random: seededRandom(1), logger, resyncPeriodMs },
      publishAfter: elected.promise,
    });
    let synced = false;
    void watcher.synced.then(() => {
      synced = true;
    });
    await start();
    expect(synced).toBe(true);
    watcher.resync();
    reader.holds('services', [rawService('web')]);
    reader.expire('services');
    await advance(3 * resyncPeriodMs);
    expect(bus.changes).toEqual([]);
    elected.resolve();
    await advance();
    expect(published()).toEqual([{ 'web initial': ['service', 'topology', 'web-1 true', 'web-2 true'] }]);
  });
});

describe('at the start', () => {
  test('the next cluster is listed once this one is published, so that lists do not pile up', async () => {
    const listing = new Semaphore({ clock, permits: 1, maxIdleMs: 60_000 });
    watcher = create({ listing });
    bus.shut = true;
    await start();
    let isNext = false;
    void listing.acquire(stop.signal).then(() => {
      isNext = true;
    });
    await advance();
    expect(isNext).toBe(false);
    bus.open();
    await advance();
    expect(isNext).toBe(true);
  });

  test.each(watchedResources)('nothing is published before %s have been listed (A9)', async (late) => {
    reader.shut(late);
    let synced = false;
    void watcher.synced.then(() => {
      synced = true;
    });
    await start();
    if (late !== 'pods') reader.send('pods', { type: 'MODIFIED', object: rawPod('web-1', '11', false) });
    watcher.resync();
    await advance();
    expect([bus.changes.length, synced]).toEqual([0, false]);
    reader.open(late);
    await advance();
    expect(synced).toBe(true);
    const [web, db, ...others] = published();
    const pods = [`web-1 ${late === 'pods'}`, 'web-2 true'];
    expect(web?.['web initial']?.toSorted()).toEqual(['service', 'topology', ...pods]);
    expect([db, ...others]).toEqual([{ 'db initial': ['service', 'topology'] }]);
  });

  test('Endpoints and slices without a Service are published too, to be swept', async () => {
    reader.holds('services', []);
    reader.holds('endpoints', [rawEndpoints('left')]);
    reader.holds('endpointslices', [rawSlice('s', 'lost')]);
    await start();
    expect(published()).toEqual([{ 'left initial': ['endpoints'] }, { 'lost initial': ['s 1'] }]);
  });
});

describe('a relist', () => {
  test('detects objects that were deleted, added and changed meanwhile (C10)', async () => {
    await start();
    published();
    reader.holds('pods', [rawPod('web-2', '12', false), rawPod('web-3', '13')], '14');
    reader.expire('pods');
    await advance();
    expect(published()).toEqual([{ web: ['web-2 false', 'web-3 true', 'web-1 deleted'] }]);
  });

  test('detects deleted and new Services', async () => {
    await start();
    published();
    reader.holds('services', [rawService('web'), rawService('mail', '12')], '12');
    reader.expire('services');
    await advance();
    expect(published()).toEqual([
      { web: ['service', 'topology'] },
      { 'mail snapshot': ['service', 'topology'] },
      { db: ['service deleted'] },
    ]);
  });

  test('of slices publishes the resourceVersion to every Service, so that objects never seen count as deleted', async () => {
    await start();
    published();
    reader.holds('endpointslices', [rawSlice('s', 'web', '20')], '33');
    reader.expire('endpointslices');
    await advance();
    expect(bus.changes.map(({ key, resourceVersions }) => [key.service, resourceVersions])).toEqual([
      ['web', { endpoints: '10', endpointslices: '33' }],
      ['db', { endpoints: '10', endpointslices: '33' }],
    ]);
    expect(published()).toEqual([{ web: ['s 20'] }, { db: [] }]);
  });
});

describe('a malformed object', () => {
  test('in a list is skipped, counted and logged', async () => {
    reader.holds('pods', [malformedPod('web-0'), rawPod('web-1')]);
    await start();
    expect(published()[0]).toEqual({ 'web initial': ['service', 'topology', 'web-1 true'] });
    expect(malformed).toEqual(['pods']);
    expect(logger.fields('warn')).toMatchObject([{ resource: 'pods', reason: expect.stringContaining('web-0') }]);
  });

  test('in a watch keeps the last valid version; other events are published', async () => {
    await start();
    published();
    reader.send(
      'pods',
      { type: 'MODIFIED', object: malformedPod('web-1', '11') },
      { type: 'MODIFIED', object: rawPod('web-2', '12', false) },
    );
    await advance();
    expect(published()).toEqual([{ web: ['web-2 false'] }]);
    expect(malformed).toEqual(['pods']);
  });

  test('is published as deleted when it is deleted', async () => {
    await start();
    published();
    reader.send('pods', { type: 'DELETED', object: malformedPod('web-1', '11') });
    await advance();
    expect(published()).toEqual([{ web: ['web-1 deleted'] }]);
  });

  test.each([
    [
      'of a Service with a selector do not keep it from being published',
      rawService('web'),
      ['service', 'topology', 'web-1 true', 'web-2 true'],
    ],
    ['that are to be mirrored keep the Service from being published as without them', withoutSelector, undefined],
  ])('Endpoints %s', async (_, service, expected) => {
    reader.holds('services', [service]);
    reader.holds('endpoints', [{ ...rawEndpoints('web'), subsets: 'none' }]);
    await start();
    expect(published().find((change) => 'web initial' in change)?.['web initial']).toEqual(expected);
    expect(malformed).toEqual(['endpoints']);
  });

  test('in a later list does not count as deleted', async () => {
    await start();
    published();
    reader.holds('pods', [malformedPod('web-1', '12'), rawPod('web-2')], '12');
    reader.expire('pods');
    await advance();
    expect(published()).toEqual([]);
  });
});

describe('resync', () => {
  test('publishes every Service again, not as initial', async () => {
    await start();
    published();
    watcher.resync();
    await advance();
    const pods = ['web-1 true', 'web-2 true'];
    expect(published()).toEqual([
      { 'web snapshot': ['service', 'topology', ...pods] },
      { 'db snapshot': ['service', 'topology'] },
    ]);
  });

  test('publishes a deleted Service once more, then never again', async () => {
    await start();
    reader.send('services', { type: 'DELETED', object: rawService('db', '11') });
    await advance();
    published();
    watcher.resync();
    await advance();
    expect(published().slice(1)).toEqual([{ 'db snapshot': [] }]);
    watcher.resync();
    await advance();
    expect(published()).toHaveLength(1);
  });

  test('happens between one and two periods after the previous one (A7)', async () => {
    await start();
    published();
    await advance(resyncPeriodMs - 10_000);
    expect(published()).toEqual([]);
    await advance(resyncPeriodMs + 10_000);
    expect(published()).toHaveLength(2);
  });

  test('happens after 12 to 24 hours by default (A7)', async () => {
    watcher = new ClusterWatcher({
      ...{ cluster: 'c', fencingToken: 1, reader, bus, clock, random: { next: () => 0 }, logger },
    });
    await start();
    published();
    await advance(12 * 3_600_000 - 10_000);
    expect(published()).toEqual([]);
    await advance(10_000);
    expect(published()).toHaveLength(2);
  });
});

test('each partition gets the digest of one Service per period, in rotation (ADR 0009)', async () => {
  const options = { cluster: 'c', fencingToken: 1, reader, bus, clock, random: seededRandom(1), logger: silentLogger };
  watcher = new ClusterWatcher({ ...options, digestPeriodMs: 60_000 });
  await start();
  published();
  await advance(60_000);
  expect(published()).toEqual([{ web: [] }]);
  await advance(60_000);
  expect(published()).toHaveLength(1);
});

describe('a resync request', () => {
  const request = async (fields: Omit<ResyncRequest, 'kind' | 'reason'>) => {
    const payload = encodeMessage({ kind: 'resync', reason: 'lost', ...fields });
    await bus.requests.append('requests', 0, [{ key: 'resync', id: 'r', headers: {}, payload }]);
    await advance();
  };
  const keyOf = (service: string, cluster = 'c') => ({ cluster, namespace: 'shop', service });

  test('for a partition publishes all its Services', async () => {
    await start();
    published();
    await request({ scope: { partition: 0 } });
    expect(published().flatMap((change) => Object.keys(change))).toEqual(['web snapshot', 'db snapshot']);
    await request({ scope: { partition: 1 } });
    expect(published()).toEqual([]);
    await request({ scope: { partition: 0, cluster: 'other' } });
    expect(published()).toEqual([]);
    await request({ scope: { partition: 0, cluster: 'c' } });
    expect(published()).toHaveLength(2);
  });

  test('for a Service publishes it, even if nothing of it exists', async () => {
    await start();
    published();
    await request({ scope: { key: keyOf('web') } });
    expect(published().flatMap((change) => Object.keys(change))).toEqual(['web snapshot']);
    await request({ scope: { key: keyOf('never-seen') } });
    expect(published()).toEqual([{ 'never-seen snapshot': [] }]);
  });

  test('for another cluster, or before the caches are synced, publishes nothing by itself', async () => {
    reader.shut('pods');
    await start();
    await request({ scope: { partition: 0 } });
    expect(published()).toEqual([]);
    reader.open('pods');
    await advance();
    expect(published()).toHaveLength(2);
    await request({ scope: { key: keyOf('web', 'other') } });
    expect(published()).toEqual([]);
  });

  test('that cannot be decoded is ignored, and the next one is answered', async () => {
    await start();
    published();
    const payload = new TextEncoder().encode('{');
    await bus.requests.append('requests', 0, [{ key: 'resync', id: 'x', headers: {}, payload }]);
    await request({ scope: { key: keyOf('web') } });
    expect(published()).toHaveLength(1);
  });

  test('that arrives before the watcher knows the end of the log is answered by a full resync', async () => {
    const end = bus.requests.end.bind(bus.requests);
    const requested = Promise.withResolvers<void>();
    bus.requests.end = async (...args) => {
      await requested.promise;
      return end(...args);
    };
    await start();
    published();
    await request({ scope: { partition: 0 } });
    requested.resolve();
    await advance();
    expect(published()).toHaveLength(2);
  });

  test('lost by truncation causes a full resync', async () => {
    const read = bus.requests.read.bind(bus.requests);
    const lost = Promise.withResolvers<never>();
    bus.requests.read = (...args) => {
      bus.requests.read = read;
      return { ...read(...args), next: () => lost.promise, close() {} };
    };
    await start();
    published();
    lost.reject(new LogTruncatedError('gone'));
    await advance();
    expect(published()).toHaveLength(2);
    await request({ scope: { key: keyOf('web') } });
    expect(published()).toHaveLength(1);
  });
});

test('snapshots and Changes carry the resourceVersions that the watcher has reached', async () => {
  reader.holds('endpoints', [], '20');
  reader.holds('endpointslices', [], '30');
  await start();
  const versions = { endpoints: '20', endpointslices: '30' };
  expect(bus.changes[0]).toMatchObject({ resourceVersions: versions, snapshot: { resourceVersions: versions } });
  bus.changes.length = 0;
  reader.send('endpointslices', { type: 'ADDED', object: rawSlice('s', 'web', '31') });
  await advance();
  reader.send('endpoints', { type: 'BOOKMARK', resourceVersion: '40' });
  reader.send('endpointslices', { type: 'BOOKMARK', resourceVersion: '41' });
  await advance();
  reader.send('pods', { type: 'MODIFIED', object: rawPod('web-1', '42', false) });
  await advance();
  expect(bus.changes.map((change) => change.resourceVersions)).toEqual([
    { endpoints: '20', endpointslices: '31' },
    { endpoints: '40', endpointslices: '41' },
  ]);
});

describe('of events that arrive together', () => {
  const flip = () =>
    reader.send(
      'pods',
      { type: 'MODIFIED', object: rawPod('web-1', '11', false) },
      { type: 'MODIFIED', object: rawPod('web-2', '12', false) },
      { type: 'MODIFIED', object: rawPod('web-1', '13', true) },
    );

  test('the last state of each object is published', async () => {
    await start();
    published();
    flip();
    await advance();
    expect(published()).toEqual([{ web: ['web-1 true', 'web-2 false'] }]);
  });

  test('each is published if they are not coalesced', async () => {
    watcher = create({ recordEachEvent: true });
    await start();
    expect(published()).toHaveLength(2);
    flip();
    await advance();
    expect(bus.changes.map(({ causes }) => causes.first.length)).toEqual([1, 1, 1]);
    expect(published()).toEqual([{ web: ['web-1 false'] }, { web: ['web-2 false'] }, { web: ['web-1 true'] }]);
  });
});

test('details of a Pod are published if they explain something, and always for a recording', async () => {
  const pod = rawPod('web-1', '11');
  const status = { containerStatuses: [{ name: 'app', state: { waiting: { reason: 'CrashLoopBackOff' } } }] };
  const crash = () =>
    reader.send('pods', { type: 'MODIFIED', object: { ...pod, status: { ...(pod.status as object), ...status } } });
  const detailsOf = () =>
    bus.changes.flatMap(({ facts }) => facts.flatMap((fact) => (fact.kind === 'pod' ? fact.pod?.details : [])));
  await start();
  expect(detailsOf().filter((details) => details !== undefined)).toEqual([]);
  published();
  crash();
  await advance();
  expect(detailsOf().at(-1)?.containers).toEqual(['app: waiting (CrashLoopBackOff)']);
  reader.send('pods', { type: 'MODIFIED', object: rawPod('web-1', '12') });
  await advance();
  expect(detailsOf().at(-1)).toBeUndefined();

  watcher = create({ recordEachEvent: true });
  await start();
  expect(detailsOf().at(-1)?.containers).toEqual([]);
  crash();
  await advance();
  expect(detailsOf().at(-1)?.containers).toEqual(['app: waiting (CrashLoopBackOff)']);
});

test('a Pod that only changes its hostname is published, unlike upstream (C14)', async () => {
  await start();
  published();
  const pod = rawPod('web-1', '11');
  reader.send('pods', { type: 'MODIFIED', object: { ...pod, spec: { ...(pod.spec as object), hostname: 'h' } } });
  await advance();
  expect(published()).toEqual([{ web: ['web-1 true'] }]);
});

test('a Pod update that does not affect endpoints is not published', async () => {
  await start();
  published();
  reader.send('pods', { type: 'MODIFIED', object: { ...rawPod('web-1', '11'), extra: 'x' } });
  await advance();
  expect(published()).toEqual([]);
});
