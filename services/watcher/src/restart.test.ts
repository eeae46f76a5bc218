import { type NamespaceScope, type RawObject, type Resource, scopeReader } from '@sluice/kubernetes';
import { type Change, encodeMessage } from '@sluice/messages';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { isFencedError, MemoryStore } from '@sluice/store';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ClusterWatcher } from './cluster-watcher.ts';
import { GatedBus } from './testing/gated-bus.ts';
import { rawEndpoints, rawPod, rawService, rawSlice } from './testing/objects.ts';
import { ScriptedReader } from './testing/scripted-reader.ts';

/** Longer than the quiet period after which a Service's digest is persisted. */
const quietMs = 15_000;

let clock: VirtualClock;
let held: Map<Resource, [items: readonly RawObject[], version: string]>;
let reader: ScriptedReader;
let bus: GatedBus;
let store: MemoryStore;
let fencingToken: number;
let stop: AbortController;
let running: Promise<void>;

beforeEach(() => {
  clock = new VirtualClock(1_000_000);
  held = new Map();
  reader = new ScriptedReader();
  bus = new GatedBus();
  store = new MemoryStore();
  fencingToken = 0;
  holds('services', [rawService('web'), rawService('db')]);
  holds('pods', [rawPod('web-1'), rawPod('web-2')]);
  holds('endpointslices', [rawSlice('web-x', 'web', '8')]);
});

afterEach(async () => {
  stop.abort();
  bus.open();
  await advance();
  await running;
});

async function advance(ms = 5_000): Promise<void> {
  const until = clock.now() + ms;
  do await new Promise((resolve) => setImmediate(resolve));
  while (clock.step(until));
}

/** Sets what this watcher and later ones find in the cluster. */
function holds(resource: Resource, items: readonly RawObject[], version = '10'): void {
  held.set(resource, [items, version]);
  reader.holds(resource, items, version);
}

async function start(namespaces?: NamespaceScope): Promise<void> {
  stop = new AbortController();
  const logger = silentLogger;
  const options = {
    cluster: 'c',
    fencingToken: ++fencingToken,
    reader: namespaces === undefined ? reader : scopeReader(reader, namespaces),
    bus,
    store,
    clock,
    random: seededRandom(1),
    logger,
  };
  running = new ClusterWatcher({ ...options, digestPeriodMs: 600_000 }).run(stop.signal);
  running.catch(() => {});
  await advance();
}

/** Stops the watcher in order, so that appends in flight finish, and starts the next one. */
async function restart(namespaces?: NamespaceScope): Promise<void> {
  stop.abort();
  await advance(1_000);
  await running;
  await start(namespaces);
}

/** Starts the next watcher while the old one still runs and does not know that it is fenced. */
async function takeOver(): Promise<{ former: ScriptedReader; stopFormer: () => Promise<void> }> {
  const [former, formerRunning, formerStop] = [reader, running, stop];
  reader = new ScriptedReader();
  for (const [resource, [items, version]] of held) reader.holds(resource, items, version);
  await start();
  const stopFormer = async () => {
    formerStop.abort();
    await advance();
    await formerRunning.catch((error: unknown) => {
      if (!isFencedError(error)) throw error;
    });
  };
  return { former, stopFormer };
}

async function requestResync(service: string): Promise<void> {
  const scope = { key: { cluster: 'c', namespace: 'shop', service } };
  const payload = encodeMessage({ kind: 'resync', reason: 'lost', scope });
  await bus.requests.append('requests', 0, [{ key: 'resync', id: 'r', headers: {}, payload }]);
  await advance();
}

/** A summary of the Changes published since the last call. */
const published = (): string[] =>
  bus.changes
    .splice(0)
    .map(({ key, snapshot, facts }: Change) => `${key.service}${snapshot ? ' snapshot' : ''}: ${facts.length}`);

describe('a restart without changes', () => {
  test('publishes nothing after an orderly shutdown', async () => {
    await start();
    expect(published()).toEqual(['web snapshot: 5', 'db snapshot: 2']);
    await restart();
    expect(published()).toEqual([]);
  });

  test('publishes nothing of namespaces that are excluded from now on, as deleted neither', async () => {
    await start();
    published();
    await restart({ except: ['shop'] });
    await requestResync('web');
    await advance(600_000);
    expect(published()).toEqual([]);
  });

  test('publishes nothing after a crash in a quiet period', async () => {
    await start();
    published();
    await advance(quietMs);
    const { stopFormer } = await takeOver();
    expect(published()).toEqual([]);
    await stopFormer();
  });

  test('publishes everything again after a crash without a checkpoint', async () => {
    await start();
    published();
    const { stopFormer } = await takeOver();
    expect(published()).toEqual(['web snapshot: 5', 'db snapshot: 2']);
    await stopFormer();
  });

  test('continues the sequence, so that losing the last Changes of the previous watcher is detected', async () => {
    await start();
    const last = bus.changes.at(-1);
    await restart();
    published();
    reader.send('pods', { type: 'MODIFIED', object: rawPod('web-1', '20', false) });
    await advance();
    expect(bus.changes).toMatchObject([
      { stamp: { epoch: 2, sequence: 1 }, previousSequence: last?.stamp.sequence, previousEpoch: 1 },
    ]);
    reader.send('pods', { type: 'MODIFIED', object: rawPod('web-1', '21', true) });
    await advance();
    expect(bus.changes[1]).toMatchObject({ stamp: { epoch: 2, sequence: 2 }, previousSequence: 1 });
    expect(bus.changes[1]).not.toHaveProperty('previousEpoch');
  });
});

describe('a restart publishes what changed meanwhile:', () => {
  test.each<[string, () => void, string[]]>([
    ['a Pod', () => holds('pods', [rawPod('web-1', '12', false), rawPod('web-2')]), ['web snapshot: 5']],
    ['a deleted Pod', () => holds('pods', [rawPod('web-1')]), ['web snapshot: 4']],
    ['a slice', () => holds('endpointslices', [rawSlice('web-x', 'web', '12')]), ['web snapshot: 5']],
    ['a deleted slice', () => holds('endpointslices', []), ['web snapshot: 4']],
    [
      'a Service',
      () => holds('services', [rawService('web'), rawService('db'), rawService('new')]),
      ['new snapshot: 2'],
    ],
    ['a deleted Service', () => holds('services', [rawService('web')]), ['db snapshot: 0']],
    ['Endpoints without a Service', () => holds('endpoints', [rawEndpoints('left')]), ['left snapshot: 1']],
  ])('%s', async (_, change, expected) => {
    await start();
    published();
    stop.abort();
    await advance(1_000);
    await running;
    change();
    await start();
    expect(published()).toEqual(expected);
    await restart();
    // Endpoints without a Service are swept at every start as long as they exist (D4).
    expect(published()).toEqual(expected.filter((line) => line.startsWith('left')));
  });
});

test.each<[string, () => Promise<void>]>([
  ['a checkpoint', () => advance(quietMs)],
  ['the answer to a resync request', () => requestResync('web')],
])('a watcher whose lease has expired stops while %s waits for the store', async (_, commits) => {
  await start();
  const { commit } = store;
  store.commit = () => Promise.reject(new Error('no connection'));
  await commits();
  let isRunning = true;
  void running.then(() => {
    isRunning = false;
  });
  stop.abort();
  await advance(1_000);
  store.commit = commit;
  expect(isRunning).toBe(false);
});

test('a fenced watcher that wakes up does not publish Services that the next one restored', async () => {
  await start();
  await advance(quietMs);
  published();
  const { former, stopFormer } = await takeOver();
  // The fenced watcher still reads and tries to publish.
  former.send('pods', { type: 'MODIFIED', object: rawPod('web-1', '12', false) });
  await advance();
  expect(published()).toEqual([]);
  await stopFormer();
});

test('a Service whose append was in flight at the crash is published again, even if the cluster is back in its old state', async () => {
  await start();
  await advance(quietMs);
  published();
  bus.shut = true;
  reader.send('pods', { type: 'MODIFIED', object: rawPod('web-1', '12', false) });
  await advance();
  bus.shut = false;
  holds('pods', [rawPod('web-1', '13'), rawPod('web-2')], '13');
  const { stopFormer } = await takeOver();
  expect(published()).toEqual(['web snapshot: 5']);
  bus.open();
  await stopFormer();
});

test('a resync request that arrives while no watcher runs is answered', async () => {
  await start();
  await advance(quietMs);
  stop.abort();
  await advance(1_000);
  await running;
  published();
  await requestResync('web');
  await start();
  expect(published()).toEqual(['web snapshot: 5']);
  await restart();
  expect(published()).toEqual([]);
});

test('a Service deleted while the published state was lost is published as deleted on request', async () => {
  await start();
  stop.abort();
  await advance(1_000);
  await running;
  published();
  store = new MemoryStore();
  holds('services', [rawService('web')]);
  await start();
  expect(published()).toEqual(['web snapshot: 5']);
  await requestResync('db');
  expect(published()).toEqual(['db snapshot: 0']);
});

test('a list older than the resourceVersion before the restart is rejected', async () => {
  holds('pods', [rawPod('web-1', '40'), rawPod('web-2')], '41');
  await start();
  published();
  holds('pods', [rawPod('web-1', '30', false), rawPod('web-2')], '30');
  const lists: Resource[] = [];
  const list = reader.list.bind(reader);
  reader.list = async (resource) => {
    lists.push(resource);
    if (lists.filter((of) => of === 'pods').length === 4) holds('pods', [rawPod('web-1', '40'), rawPod('web-2')], '41');
    return list(resource);
  };
  await restart();
  await advance(quietMs);
  expect(lists.filter((of) => of === 'pods')).toHaveLength(4);
  expect(published()).toEqual([]);
});
