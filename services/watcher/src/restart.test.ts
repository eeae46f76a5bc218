import type { RawObject, Resource } from '@sluice/kubernetes';
import { type Change, encodeMessage } from '@sluice/messages';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/runtime';
import { isFencedError, MemoryStore } from '@sluice/store';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ClusterWatcher } from './cluster-watcher.ts';
import { GatedBus } from './testing/gated-bus.ts';
import { rawEndpoints, rawPod, rawService, rawSlice } from './testing/raw-objects.ts';
import { ScriptedReader } from './testing/scripted-reader.ts';

/** Longer than a Service must be quiet for its digest to be stored. */
const quiet = 15_000;

let clock: VirtualClock;
let held: Map<Resource, [items: readonly RawObject[], version: string]>;
let reader: ScriptedReader;
let bus: GatedBus;
let store: MemoryStore;
let epoch: number;
let stop: AbortController;
let running: Promise<void>;

beforeEach(() => {
  clock = new VirtualClock(1_000_000);
  held = new Map();
  reader = new ScriptedReader();
  bus = new GatedBus();
  store = new MemoryStore();
  epoch = 0;
  holds('services', [rawService('web'), rawService('db')]);
  holds('pods', [rawPod('web-1'), rawPod('web-2')]);
  holds('endpointslices', [rawSlice('web-x', 'web', '8')]);
});

afterEach(async () => {
  stop.abort();
  bus.open();
  await settle();
  await running;
});

async function settle(ms = 5_000): Promise<void> {
  const until = clock.now() + ms;
  do await new Promise((resolve) => setImmediate(resolve));
  while (clock.step(until));
}

/** What the cluster holds, for this watcher and those after it. */
function holds(resource: Resource, items: readonly RawObject[], version = '10'): void {
  held.set(resource, [items, version]);
  reader.holds(resource, items, version);
}

async function start(): Promise<void> {
  stop = new AbortController();
  const logger = silentLogger;
  const options = { cluster: 'c', epoch: ++epoch, reader, bus, store, clock, random: seededRandom(1), logger };
  running = new ClusterWatcher({ ...options, comparePeriodMs: 600_000 }).run(stop.signal);
  running.catch(() => {});
  await settle();
}

/** In an orderly way: what is on its way arrives. */
async function restart(): Promise<void> {
  stop.abort();
  await settle(1_000);
  await running;
  await start();
}

/**
 * Without a last word: the old one goes on, and hears of it when it next wants to tell something. Returns its reader, and
 * how to end it.
 */
async function takeOver(): Promise<{ former: ScriptedReader; end: () => Promise<void> }> {
  const [former, formerRunning, formerStop] = [reader, running, stop];
  reader = new ScriptedReader();
  for (const [resource, [items, version]] of held) reader.holds(resource, items, version);
  await start();
  const end = async () => {
    formerStop.abort();
    await settle();
    await formerRunning.catch((error: unknown) => {
      if (!isFencedError(error)) throw error;
    });
  };
  return { former, end };
}

/** What was told since the last time, in short. */
const told = (): string[] =>
  bus.changes
    .splice(0)
    .map(({ key, snapshot, facts }: Change) => `${key.service}${snapshot ? ' snapshot' : ''}: ${facts.length}`);

describe('a restart with nothing new', () => {
  test('tells nothing, in an orderly way, at once', async () => {
    await start();
    expect(told()).toEqual(['web snapshot: 5', 'db snapshot: 2']);
    await restart();
    expect(told()).toEqual([]);
  });

  test('tells nothing after a crash, once all has been quiet for a while', async () => {
    await start();
    told();
    await settle(quiet);
    const { end } = await takeOver();
    expect(told()).toEqual([]);
    await end();
  });

  test('tells everything again after a crash in the middle', async () => {
    await start();
    told();
    const { end } = await takeOver();
    expect(told()).toEqual(['web snapshot: 5', 'db snapshot: 2']);
    await end();
  });

  test('goes on in a chain that shows if the last words of the one before were lost', async () => {
    await start();
    const last = bus.changes.at(-1);
    await restart();
    told();
    reader.send('pods', { type: 'MODIFIED', object: rawPod('web-1', '20', false) });
    await settle();
    expect(bus.changes).toMatchObject([
      { stamp: { epoch: 2, sequence: 1 }, previousSequence: last?.stamp.sequence, previousEpoch: 1 },
    ]);
    reader.send('pods', { type: 'MODIFIED', object: rawPod('web-1', '21', true) });
    await settle();
    expect(bus.changes[1]).toMatchObject({ stamp: { epoch: 2, sequence: 2 }, previousSequence: 1 });
    expect(bus.changes[1]).not.toHaveProperty('previousEpoch');
  });
});

describe('a restart tells what changed meanwhile:', () => {
  test.each<[string, () => void, string[]]>([
    ['a Pod', () => holds('pods', [rawPod('web-1', '12', false), rawPod('web-2')]), ['web snapshot: 5']],
    ['a Pod that is gone', () => holds('pods', [rawPod('web-1')]), ['web snapshot: 4']],
    ['a slice', () => holds('endpointslices', [rawSlice('web-x', 'web', '12')]), ['web snapshot: 5']],
    ['a slice that is gone', () => holds('endpointslices', []), ['web snapshot: 4']],
    [
      'a Service',
      () => holds('services', [rawService('web'), rawService('db'), rawService('new')]),
      ['new snapshot: 2'],
    ],
    ['a Service that is gone', () => holds('services', [rawService('web')]), ['db snapshot: 0']],
    ['Endpoints without a Service', () => holds('endpoints', [rawEndpoints('left')]), ['left snapshot: 1']],
  ])('%s', async (_, change, expected) => {
    await start();
    told();
    stop.abort();
    await settle(1_000);
    await running;
    change();
    await start();
    expect(told()).toEqual(expected);
    await restart();
    // Those without a Service are to be swept at every start, for as long as they are there (D4).
    expect(told()).toEqual(expected.filter((line) => line.startsWith('left')));
  });
});

test('a frozen watcher that wakes up tells nothing of what the next one found settled', async () => {
  await start();
  await settle(quiet);
  told();
  const { former, end } = await takeOver();
  // The old one still reads, and wants to tell.
  former.send('pods', { type: 'MODIFIED', object: rawPod('web-1', '12', false) });
  await settle();
  expect(told()).toEqual([]);
  await end();
});

test('a change that the bus had not taken when the watcher died is told again, though the cluster is back where it was', async () => {
  await start();
  await settle(quiet);
  told();
  bus.shut = true;
  reader.send('pods', { type: 'MODIFIED', object: rawPod('web-1', '12', false) });
  await settle();
  bus.shut = false;
  holds('pods', [rawPod('web-1', '13'), rawPod('web-2')], '13');
  const { end } = await takeOver();
  expect(told()).toEqual(['web snapshot: 5']);
  bus.open();
  await end();
});

test('a request that came while nobody watched is answered', async () => {
  await start();
  await settle(quiet);
  stop.abort();
  await settle(1_000);
  await running;
  told();
  const scope = { key: { cluster: 'c', namespace: 'shop', service: 'web' } };
  const payload = encodeMessage({ kind: 'resync', reason: 'lost', scope });
  await bus.requests.append('requests', 0, [{ key: 'resync', id: 'r', headers: {}, payload }]);
  await start();
  expect(told()).toEqual(['web snapshot: 5']);
  await restart();
  expect(told()).toEqual([]);
});

test('a Service that vanished together with what was told of it is known to nobody, and told to be gone when it is asked for', async () => {
  await start();
  stop.abort();
  await settle(1_000);
  await running;
  told();
  store = new MemoryStore();
  holds('services', [rawService('web')]);
  await start();
  expect(told()).toEqual(['web snapshot: 5']);
  const scope = { key: { cluster: 'c', namespace: 'shop', service: 'db' } };
  const payload = encodeMessage({ kind: 'resync', reason: 'unheard of', scope });
  await bus.requests.append('requests', 0, [{ key: 'resync', id: 'r', headers: {}, payload }]);
  await settle();
  expect(told()).toEqual(['db snapshot: 0']);
});

test('a list older than what was known before the restart is not believed', async () => {
  holds('pods', [rawPod('web-1', '40'), rawPod('web-2')], '41');
  await start();
  told();
  holds('pods', [rawPod('web-1', '30', false), rawPod('web-2')], '30');
  const lists: Resource[] = [];
  const list = reader.list.bind(reader);
  reader.list = async (resource) => {
    lists.push(resource);
    if (lists.filter((of) => of === 'pods').length === 4) holds('pods', [rawPod('web-1', '40'), rawPod('web-2')], '41');
    return list(resource);
  };
  await restart();
  await settle(quiet);
  expect(lists.filter((of) => of === 'pods')).toHaveLength(4);
  expect(told()).toEqual([]);
});
