import { formatServiceKey, parseServiceKey } from '@sluice/messages';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { defaultSettings, evolve } from '@sluice/service-state';
import { aChange, aService, aSnapshot, fact, key, keyText } from '@sluice/service-state/testing';
import type { StoredEntry } from '@sluice/store';
import { beforeEach, describe, expect, test } from 'vitest';
import { PartitionState, PlanNumbers, ReadyEndpoints } from './partition-state.ts';

describe('partition state', () => {
  const ports = { clock: new VirtualClock(1_000_000), random: seededRandom(1) };
  const service = { kind: 'service', service: aService() } as const;
  let dropped: string[];
  let state: PartitionState;

  beforeEach(() => {
    dropped = [];
    state = new PartitionState(ports, (name) => dropped.push(name));
  });

  /** What a store holds after the entries, in their order. */
  function stored(...commits: readonly (readonly StoredEntry[])[]): Map<string, unknown> {
    const values = new Map<string, unknown>();
    for (const { key: of, field, value } of commits.flat()) {
      if (value === undefined) values.delete(`${of} ${field}`);
      else values.set(`${of} ${field}`, value);
    }
    return values;
  }

  function receive(sequence: number, ...pods: readonly string[]): void {
    const change = aSnapshot(sequence, [service, ...pods.map((name) => fact.pod(name))]);
    evolve(state.service(keyText), change, 1_000_000, defaultSettings);
  }

  test('a Service that is dropped and comes back before the next commit is stored as it is then', () => {
    receive(1, 'p', 'q');
    const before = state.drainChanges([keyText]);
    state.removeCluster(key.cluster);
    expect(dropped).toEqual([formatServiceKey(key)]);
    receive(2, 'p');

    const after = stored(before, state.drainChanges([keyText]));

    const other = new PartitionState(ports, () => {});
    receive(3, 'p');
    const names = [...after.keys()].filter((name) => name.startsWith(keyText));
    expect(names).toContain(`${keyText} service`);
    expect(names.filter((name) => name.includes('pod/'))).toEqual([`${keyText} pod/p`]);
    expect(other.load([...entriesOf(after)], () => expect.unreachable('unreadable'))).toBe(true);
    expect([...(other.services.get(keyText)?.pods.keys() ?? [])]).toEqual(['p']);
  });

  describe('stored entries', () => {
    const db = 'c/shop/db';
    const change = (sequence: number) => aChange(sequence, [], { previousSequence: sequence - 1 });

    /** Entries of the Services `web` and `db`, of the last Change of their cluster, and of the partition. */
    function entries(): readonly StoredEntry[] {
      for (const of of [keyText, db]) {
        const { service: name } = parseServiceKey(of);
        const named = { kind: 'service', service: aService({ name }) } as const;
        evolve(state.service(of), aSnapshot(1, [named]), 1_000_000, defaultSettings);
      }
      state.gaps.observe(change(1));
      state.planNumbers.advance();
      state.pendingResyncs.add(db, 'unreadable');
      return state.drainChanges([keyText, db]);
    }

    const isRemoval = ({ value }: StoredEntry) => value === undefined;
    const unreadable: string[] = [];
    const load = (loaded: readonly StoredEntry[]) => {
      state = new PartitionState(ports, (name) => dropped.push(name));
      unreadable.length = 0;
      return state.load(loaded, (name) => unreadable.push(name));
    };

    test('of a new owner are everything that the former one knew, and all of its Services are due', () => {
      expect(load(entries())).toBe(true);
      expect([...state.services.keys()]).toEqual([keyText, db]);
      expect(state.services.get(keyText)?.service?.service?.name).toBe('web');
      expect(state.gaps.hasSeen(change(1))).toBe(true);
      expect(state.planNumbers.next).toBe(2);
      expect(state.pendingResyncs.takeDue()).toEqual([[db, 'unreadable']]);
      expect(state.queue.take(0)).toEqual([keyText, db]);
      expect(unreadable).toEqual([]);
    });

    test('that are none are readable', () => {
      expect(load([])).toBe(true);
      expect(state.drainChanges([])).toEqual([]);
    });

    test('of one Service that are unreadable are removed, and the Service is requested', () => {
      const stored = entries().map((entry) =>
        entry.key === keyText && entry.field === 'service' ? { ...entry, value: 'garbage' } : entry,
      );
      expect(load(stored)).toBe(true);
      expect(unreadable).toEqual([keyText]);
      expect([...state.services.keys()]).toEqual([db]);
      expect(state.queue.take(0)).toEqual([db]);
      expect(state.pendingResyncs.takeDue()).toContainEqual([keyText, 'stored state unreadable']);
      const removed = state.drainChanges([]).filter(isRemoval);
      expect(new Set(removed.map(({ key: of }) => of))).toEqual(new Set([keyText]));
      expect(removed.map(({ field }) => field)).toContain('service');
    });

    test.each<readonly [string, StoredEntry]>([
      ['of something unknown', { key: 'unknown', field: 'unknown', value: 1 }],
      ['with an invalid last Change', { key: 'c', field: 'lastChange', value: 'garbage' }],
      ['with an invalid plan number', { key: 'partition', field: 'lastPlan', value: 'garbage' }],
      ['with an invalid request', { key: keyText, field: 'resync', value: 'garbage' }],
    ])('%s are all discarded', (_, wrong) => {
      const stored = entries().filter(({ field, key: of }) => field !== wrong.field || of !== wrong.key);
      expect(load([...stored, wrong])).toBe(false);
      expect(state.services.size).toBe(0);
      expect(state.gaps.hasSeen(change(1))).toBe(false);
      expect(state.planNumbers.next).toBe(1);
      expect(state.pendingResyncs.takeDue()).toEqual([]);
      expect(unreadable).toEqual([]);
    });
  });

  test('a removed cluster leaves nothing, neither deadlines nor requests; others stay', () => {
    const other = 'other/shop/web';
    for (const name of [keyText, other]) {
      state.service(name);
      state.queue.set(name, 5);
      state.ready.set(name, name === other ? 'other' : 'c', 'endpointslice', 1);
      state.pendingResyncs.add(name, 'unreadable');
    }
    state.removeCluster('c');
    expect([...state.services.keys()]).toEqual([other]);
    expect(state.queue.take(5)).toEqual([other]);
    expect(state.ready.has(keyText, 'endpointslice')).toBe(false);
    expect(state.ready.has(other, 'endpointslice')).toBe(true);
    expect(state.pendingResyncs.takeDue().map(([name]) => name)).toEqual([other]);
  });

  test('only changes of the named Services are drained, once, and nothing of a Service of which nothing is left', () => {
    receive(1, 'p');
    state.service('c/shop/db');
    const others = state.drainChanges(['c/shop/db', 'c/shop/unknown']);
    expect(others.filter(({ key: of, value }) => of !== 'scope' && value !== undefined)).toEqual([]);
    expect(dropped).toEqual(['c/shop/db']);
    expect(state.drainChanges([keyText]).length).toBeGreaterThan(0);
    expect(state.drainChanges([keyText])).toEqual([]);
  });

  test('deadlines of another clock are corrected, and every Service is due', () => {
    receive(1, 'p');
    const before = state.service(keyText).controller('endpointslice');
    state
      .service(keyText)
      .setController('endpointslice', { ...before, timers: { ...before.timers, dueAt: 9_000_000 } });
    state.evolveAll({ kind: 'clockChanged' }, 1_000_000, defaultSettings);
    expect(state.service(keyText).controller('endpointslice').timers.dueAt).toBe(1_000_000);
    expect(state.queue.take(0)).toEqual([keyText]);
  });

  function* entriesOf(values: ReadonlyMap<string, unknown>): Iterable<StoredEntry> {
    for (const [name, value] of values) {
      const [of = '', field = ''] = name.split(' ');
      yield { key: of, field, value };
    }
  }
});

const [web, db] = ['c/shop/web', 'c/shop/db'];

test('sums the other Services of the same cluster and controller', () => {
  const ready = new ReadyEndpoints();
  ready.set(db, 'c', 'endpointslice', 10);
  ready.set('other/shop/web', 'other', 'endpointslice', 100);
  ready.set(db, 'c', 'endpoints', 1_000);
  ready.set(web, 'c', 'endpointslice', 2);
  expect(ready.elsewhere(web, 'c', 'endpointslice')).toBe(10);
  expect(ready.elsewhere(db, 'c', 'endpointslice')).toBe(2);
  ready.set(web, 'c', 'endpointslice', 3);
  expect(ready.elsewhere(db, 'c', 'endpointslice')).toBe(3);
});

test('a removed Service is not counted', () => {
  const ready = new ReadyEndpoints();
  ready.set(web, 'c', 'endpointslice', 5);
  ready.set(web, 'c', 'endpoints', 5);
  ready.set(db, 'c', 'endpointslice', 1);
  ready.remove(web, 'c');
  expect(ready.elsewhere(db, 'c', 'endpointslice')).toBe(0);
  expect(ready.elsewhere(web, 'c', 'endpointslice')).toBe(1);
  expect(ready.has(web, 'endpoints')).toBe(false);
});

test('a Service or cluster that is not known has none', () => {
  const ready = new ReadyEndpoints();
  expect(ready.has(web, 'endpoints')).toBe(false);
  expect(ready.elsewhere(web, 'c', 'endpoints')).toBe(0);
  ready.remove(web, 'c');
  ready.set(web, 'c', 'endpoints', 5);
  expect(ready.has(web, 'endpoints')).toBe(true);
  expect(ready.has(web, 'endpointslice')).toBe(false);
  expect(ready.elsewhere(db, 'c', 'endpoints')).toBe(5);
});

describe('plan numbers', () => {
  const key = 'partition';

  test('a plan has the number after the last one, and is published up to a number', () => {
    const numbers = new PlanNumbers();
    expect([numbers.last, numbers.next]).toEqual([0, 1]);
    numbers.advance();
    numbers.advance();
    expect([numbers.last, numbers.next]).toEqual([2, 3]);
    numbers.markPublished(1);
    expect([1, 2].map((number) => numbers.isPublished(number))).toEqual([true, false]);
  });

  test('changed numbers are stored once, and the next owner continues after them', () => {
    const [before, after] = [new PlanNumbers(), new PlanNumbers()];
    expect(before.drainChanges()).toEqual([]);
    for (let i = 0; i < 3; i++) before.advance();
    before.markPublished(2);
    const stored = before.drainChanges();
    expect(stored).toEqual([
      { key, field: 'lastPlan', value: 3 },
      { key, field: 'publishedPlan', value: 2 },
    ]);
    expect(before.drainChanges()).toEqual([]);
    for (const entry of stored) expect(after.load(entry)).toBe(true);
    expect([after.next, after.isPublished(2), after.isPublished(3)]).toEqual([4, true, false]);
    expect(after.drainChanges()).toEqual([]);
  });

  test('only valid entries of the partition are loaded, and all are cleared', () => {
    const numbers = new PlanNumbers();
    expect(numbers.load({ key: 'c/shop/web', field: 'lastPlan', value: 5 })).toBe(false);
    expect(numbers.load({ key, field: 'another', value: 5 })).toBe(false);
    for (const value of ['5', 1.5, null]) {
      expect(() => numbers.load({ key, field: 'lastPlan', value })).toThrow(TypeError);
    }
    numbers.load({ key, field: 'lastPlan', value: 5 });
    numbers.load({ key, field: 'publishedPlan', value: 5 });
    numbers.clear();
    expect([numbers.next, numbers.isPublished(1)]).toEqual([1, false]);
    numbers.advance();
    numbers.markPublished(1);
    expect(numbers.drainChanges().map(({ field }) => field)).toEqual(['lastPlan', 'publishedPlan']);
  });
});
