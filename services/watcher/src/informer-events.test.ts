import { ApiError, ListBudget, type Resource, watchedResources } from '@sluice/kubernetes';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import type { Outage } from '@sluice/store';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { EventHandler, Router } from './event-handler.ts';
import { Indexer } from './indexer.ts';
import { Informer, type InformerOptions } from './informer.ts';
import { malformedPod, rawEndpoints, rawPod, rawService, rawSlice } from './testing/objects.ts';
import { ScriptedReader } from './testing/scripted-reader.ts';

let clock: VirtualClock;
let reader: ScriptedReader;
let indexer: Indexer;
let informer: Informer;
let stop: AbortController;
let running: Promise<void>;
let calls: string[];

beforeEach(() => {
  clock = new VirtualClock(1_000_000);
  reader = new ScriptedReader();
  stop = new AbortController();
  calls = [];
});

afterEach(async () => {
  stop.abort();
  for (const resource of watchedResources) reader.open(resource);
  await advance(clock, 0);
  await running;
});

/** Long enough for a reflector to repeat a list that is too old until it accepts it. */
const pass = (ms = 120_000) => advance(clock, ms);

async function start(given: Partial<InformerOptions> = {}): Promise<void> {
  indexer = new Indexer();
  informer = new Informer({
    ...{ reader, clock, random: seededRandom(1), logger: silentLogger },
    indexer,
    handler: new EventHandler(indexer, new Router(indexer, () => {})),
    notOlderThan: () => '',
    onSynced: () => calls.push('synced'),
    onHistoryRestarted: (proof) => calls.push(proof),
    onRelisted: (resource) => calls.push(`${resource} relisted`),
    ...given,
  });
  running = informer.run(stop.signal);
  await pass(1_000);
}

describe('the caches are synced', () => {
  test('once every resource has been listed; later lists are reported as such', async () => {
    reader.shut('nodes');
    await start();
    reader.expire('pods');
    await pass(1_000);
    expect([calls, informer.hasSynced]).toEqual([[], false]);
    expect([informer.resourceVersion('pods'), informer.resourceVersion('nodes')]).toEqual(['10', '0']);
    reader.open('nodes');
    await pass(1_000);
    expect([calls.splice(0), informer.hasSynced]).toEqual([['synced'], true]);
    expect([...indexer.resourceVersions.keys()].sort()).toEqual([...watchedResources].sort());
    reader.expire('endpoints');
    await pass(1_000);
    expect(calls).toEqual(['endpoints relisted']);
  });
});

describe('the history of the cluster has restarted', () => {
  test('if a list stays older than what a previous watcher has seen', async () => {
    await start({ notOlderThan: (resource) => (resource === 'pods' ? '30' : '') });
    expect(calls).toEqual([]);
    await pass();
    expect(calls).toEqual(['pods listed at 10 after 30']);
    expect(informer.hasSynced).toBe(false);
  });

  test.each<[Resource, boolean]>([
    ['endpointslices', true],
    ['endpoints', true],
    ['services', false],
  ])('if a newer list of %s has an object that was not there before: %s', async (resource, isProof) => {
    await start();
    calls.length = 0;
    const raw = { endpointslices: rawSlice('web', 'web', '7'), endpoints: rawEndpoints('web', '7') };
    reader.holds(resource, [resource in raw ? raw[resource as keyof typeof raw] : rawService('web', '7')], '12');
    reader.expire(resource);
    await pass();
    expect(calls).toEqual([isProof ? expect.stringContaining(`${resource} shop/web`) : `${resource} relisted`]);
    expect(informer.resourceVersion(resource)).toBe(isProof ? '10' : '12');
  });

  test('not if the first list has objects of any age', async () => {
    reader.holds('endpoints', [rawEndpoints('web', '7')]);
    await start({ notOlderThan: () => '9' });
    expect(calls).toEqual(['synced']);
  });
});

test('every list, event and bookmark is progress of its resource', async () => {
  const progress: Resource[] = [];
  await start({ onProgress: (resource) => progress.push(resource) });
  expect(progress.splice(0).sort()).toEqual([...watchedResources].sort());
  reader.send('pods', { type: 'ADDED', object: rawPod('web-1', '11') });
  reader.send('nodes', { type: 'BOOKMARK', resourceVersion: '20' });
  await pass(1_000);
  expect(progress).toEqual(['pods', 'nodes']);
});

test('states are reported by resource', async () => {
  const states = new Map<Resource, string>();
  reader.shut('nodes');
  await start({ onState: (resource, state) => states.set(resource, state) });
  expect([states.get('pods'), states.get('nodes')]).toEqual(['watching', 'listing']);
});

test('malformed objects are reported by resource', async () => {
  const malformed: Resource[] = [];
  reader.holds('pods', [malformedPod('web-1'), rawPod('web-2')]);
  await start({ onMalformed: (resource) => malformed.push(resource) });
  reader.send('pods', { type: 'MODIFIED', object: malformedPod('web-2', '11') });
  await pass(1_000);
  expect(malformed).toEqual(['pods', 'pods']);
});

describe('an API server that does not answer', () => {
  test('is reported once it has not for a while, and again when it answers, whatever it answers', async () => {
    const outages: (Outage | null)[] = [];
    const list = reader.list.bind(reader);
    reader.list = async () => {
      throw new ApiError('cannot connect', { kind: 'retry', status: 0, reason: 'ECONNREFUSED' });
    };
    await start({ onAvailability: (outage) => outages.push(outage) });
    await pass(10_000);
    expect(outages).toMatchObject([{ reason: 'connection refused' }]);
    reader.list = list;
    await pass();
    expect(outages.slice(1)).toEqual([null]);
  });
});

test('an API server that answers for one resource is available', async () => {
  const outages: (Outage | null)[] = [];
  const list = reader.list.bind(reader);
  reader.list = async (resource) => {
    if (resource !== 'pods') return list(resource);
    throw new ApiError('cannot connect', { kind: 'retry', status: 0, reason: 'ECONNREFUSED' });
  };
  await start({ onAvailability: (outage) => outages.push(outage) });
  for (let version = 11; version < 40; version++) {
    reader.send('nodes', { type: 'BOOKMARK', resourceVersion: String(version) });
    await pass(500);
  }
  expect(outages).toEqual([]);
});

test('an API server that can stream lists is asked for no pages', async () => {
  const lists: Resource[] = [];
  const list = reader.list.bind(reader);
  reader.list = async (resource) => {
    lists.push(resource);
    return list(resource);
  };
  Object.assign(reader, { watchList: true });
  await start();
  expect(lists).toEqual([]);
});

describe('the memory of the cluster', () => {
  let listBudget: ListBudget;
  const bytes = () => listBudget.bytes.get('pods') ?? 0;

  beforeEach(async () => {
    listBudget = new ListBudget(1_000_000);
    reader.holds('pods', [rawPod('web-1')]);
    await start({ listBudget });
  });

  test('is what is kept of the objects, as after a list', async () => {
    const before = bytes();
    expect(before).toBeGreaterThan(0);
    reader.send('pods', { type: 'ADDED', object: rawPod('web-2', '11') });
    await pass(1_000);
    const grown = bytes();
    expect(grown).toBeGreaterThan(before);
    reader.send('pods', { type: 'MODIFIED', object: rawPod('web-2', '12', false) });
    reader.send('pods', { type: 'MODIFIED', object: rawPod('web-2', '13') });
    await pass(1_000);
    expect(bytes()).toBe(grown);
    reader.send('pods', { type: 'DELETED', object: rawPod('web-2', '14') });
    await pass(1_000);
    expect(bytes()).toBe(before);
  });

  test('grows by the name of an object that cannot be decoded, unless a valid version is kept', async () => {
    const before = bytes();
    reader.send('pods', { type: 'MODIFIED', object: malformedPod('web-1', '11') });
    await pass(1_000);
    expect(bytes()).toBe(before);
    reader.send('pods', { type: 'ADDED', object: malformedPod('web-2', '12') });
    await pass(1_000);
    expect(bytes()).toBeGreaterThan(before);
    reader.send('pods', { type: 'DELETED', object: malformedPod('web-2', '13') });
    await pass(1_000);
    expect(bytes()).toBe(before);
  });
});

test('an object that does not fit into the memory is not kept', async () => {
  const listBudget = new ListBudget(10_000);
  reader.holds('pods', [rawPod('web-1')]);
  await start({ listBudget });
  reader.send('pods', { type: 'ADDED', object: rawPod('x'.repeat(20_000), '11') });
  await pass(1_000);
  expect(informer.resourceVersion('pods')).toBe('10');
});
