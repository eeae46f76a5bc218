import { BusClosedError } from '@sluice/bus';
import { encodeMessage } from '@sluice/messages';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { MemoryStore } from '@sluice/store';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ClusterWatcher } from './cluster-watcher.ts';
import { publishedStateScope } from './published-state.ts';
import { GatedBus } from './testing/gated-bus.ts';
import { rawService } from './testing/objects.ts';
import { ScriptedReader } from './testing/scripted-reader.ts';

let clock: VirtualClock;
let bus: GatedBus;
let store: MemoryStore;
let stop: AbortController;
let running: Promise<void>;
/** Why the watcher has ended, if it has. */
let failure: unknown;

beforeEach(() => {
  clock = new VirtualClock(1_000_000);
  bus = new GatedBus();
  store = new MemoryStore();
  stop = new AbortController();
  failure = undefined;
});

afterEach(async () => {
  stop.abort();
  await advance(clock, 1_000);
  await running;
});

async function start(): Promise<void> {
  const reader = new ScriptedReader();
  reader.holds('services', [rawService('web')]);
  const ports = { reader, bus, store, clock, random: seededRandom(1), logger: silentLogger };
  running = new ClusterWatcher({ cluster: 'c', fencingToken: 1, ...ports }).run(stop.signal).catch((error: unknown) => {
    failure = error;
  });
  await advance(clock, 5_000);
}

async function request(): Promise<void> {
  const scope = { key: { cluster: 'c', namespace: 'shop', service: 'web' } };
  const payload = encodeMessage({ kind: 'resync', reason: 'lost', scope });
  await bus.requests.append('requests', 0, [{ key: 'resync', id: 'r', headers: {}, payload }]);
  bus.changes.length = 0;
  await advance(clock, 60_000);
}

test('requests are answered once the bus lets them be read', async () => {
  let failures = 3;
  const end = bus.requests.end.bind(bus.requests);
  bus.requests.end = async (...args) => {
    if (failures-- > 0) throw new Error('no connection');
    return end(...args);
  };
  await start();
  await request();
  expect(failures).toBe(-1);
  expect(bus.changes).toMatchObject([{ key: { service: 'web' } }]);
});

test('a watcher ends with the bus', async () => {
  bus.requests.end = () => Promise.reject(new BusClosedError('closed'));
  await start();
  expect(failure).toMatchObject({ code: 'BUS_CLOSED' });
});

test('a watcher that is fenced while it answers a request ends as fenced', async () => {
  await start();
  await store.claim(publishedStateScope('c'), 2);
  await request();
  await running;
  expect(failure).toMatchObject({ code: 'FENCED' });
});
