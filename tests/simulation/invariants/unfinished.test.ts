import { beforeEach, expect, test } from 'vitest';
import { LossyBus } from '../doubles/lossy-bus.ts';
import type { SimulatedStore } from '../doubles/simulated-store.ts';
import { ReplacedValues } from './replaced-values.ts';
import { Unfinished, type UnfinishedOptions } from './unfinished.ts';

const key = 'c/shop/web';
let log: LossyBus;
let committed: number;
let entries: Map<string, string>;

beforeEach(() => {
  log = new LossyBus(1, { dropsRepeated: false, dropsReleased: false });
  committed = 0;
  entries = new Map();
});

/** What is unfinished a second after the records were appended. */
function find(options: Partial<UnfinishedOptions> = {}): string | undefined {
  const store = {
    scopes: ['reconciler/0'],
    entries: () => entries,
    checkpoint: () => ({ offset: committed, id: '', streamId: '' }),
  } as Partial<SimulatedStore> as SimulatedStore;
  const unfinished = new Unfinished({
    ...{ log, store, isIntact: () => true, isKept: () => true, replaced: new ReplacedValues() },
    ...{ isChunked: false, mayLeaveRepeatedPlans: false, mayAwaitProbe: () => false },
    ...options,
  });
  unfinished.find(0);
  return unfinished.find(1_000);
}

const append = (...ids: string[]) =>
  log.append(
    'mutations',
    0,
    ids.map((id) => ({ key, id, headers: {}, payload: new Uint8Array() })),
  );

test('each record is committed', async () => {
  expect(find()).toBeUndefined();
  await append('plan/1');
  expect(find()).toBe('writer/0 is committed up to 0, and its log ends at 1');
  committed = 1;
  expect(find()).toBeUndefined();
});

test('chunks of a message that is never completed may stay unread, and no complete message', async () => {
  await append('plan/1/chunk/7/0-3', 'plan/1/chunk/7/1-3');
  expect(find()).toBeUndefined();
  await append('plan/1');
  expect(find()).toBe('writer/0 is committed up to 0, and its log ends at 3');
});

test('a second copy of a plan may stay unread, and no other plan', async () => {
  await append('plan/1', 'plan/1/again/1');
  committed = 1;
  expect(find()).toContain('committed up to 1');
  expect(find({ mayLeaveRepeatedPlans: true })).toBeUndefined();
  await append('plan/2');
  expect(find({ mayLeaveRepeatedPlans: true })).toContain('committed up to 1');
});

test.each([
  ['resync', '{"reason":"gap"}', 'awaits a snapshot'],
  ['snapshot', '{"open":null,"complete":false}', 'has a part of a snapshot'],
  ['controller/endpoints', '{"inFlight":{"number":1}}', 'awaits an Outcome'],
])('nothing is awaited in the field %s', (field, value, what) => {
  entries.set(`${key}\n${field}`, value);
  expect(find()).toContain(what);
  expect(find({ isKept: () => false })).toBeUndefined();
});

test('only a snapshot may await the liveness probe', () => {
  entries.set(`${key}\nsnapshot`, '{"open":null,"complete":false}');
  expect(find({ mayAwaitProbe: () => true })).toBeUndefined();
  entries.set(`${key}\nresync`, '{"reason":"gap"}');
  expect(find({ mayAwaitProbe: () => true })).toContain('awaits a snapshot');
});
