import { formatServiceKey, partitionOf } from '@sluice/messages';
import { beforeEach, describe, expect, test } from 'vitest';
import { type DirtyReason, DirtySet, PublishedServices } from './dirty-set.ts';

describe('dirty set', () => {
  const key = { cluster: 'c', namespace: 'shop', service: 'web' };
  const text = 'c/shop/web';
  let set: DirtySet;

  beforeEach(() => {
    set = new DirtySet();
  });

  const cause = (description: string) => ({ description, observedAt: 1 });
  const add = (reason: DirtyReason, description?: string) =>
    set.add(text, key, reason, description === undefined ? undefined : cause(description));

  const change: DirtyReason = { kind: 'pod', name: 'p' };
  const echoes: readonly DirtyReason[] = [
    { kind: 'endpoints', uid: 'u', isWatchEcho: true },
    { kind: 'slice', name: 's', uid: 'u', relabelled: false, isWatchEcho: true },
  ];

  test('Services are taken in the order in which they became dirty', () => {
    for (const service of ['a', 'b', 'a', 'c']) set.add(`c/shop/${service}`, { ...key, service }, change, undefined);
    expect([set.size, set.has('c/shop/b'), set.has(text)]).toEqual([3, true, false]);
    expect(set.first(2)).toEqual(['c/shop/a', 'c/shop/b']);
    expect(set.take('c/shop/a')?.key.service).toBe('a');
    expect(set.take('c/shop/a')).toBeUndefined();
    expect(set.first(9)).toEqual(['c/shop/b', 'c/shop/c']);
  });

  test('an entry has everything that changed, with the latest state of each object', () => {
    add({ kind: 'pod', name: 'p' });
    add({ kind: 'pod', name: 'q' });
    add({ kind: 'pod', name: 'p' });
    add({ kind: 'slice', name: 's', uid: 'u1', relabelled: true, labelledFor: 'db', manager: 'kubectl' });
    add({ kind: 'slice', name: 't', uid: 'u2', relabelled: false });
    add({ kind: 'slice', name: 's', uid: 'u3', relabelled: false });
    add({ kind: 'endpoints', uid: 'e1' });
    add({ kind: 'endpoints', uid: 'e2', manager: 'kubectl' });
    add({ kind: 'topology' });
    const entry = set.take(text);
    expect([...(entry?.pods ?? [])]).toEqual(['p', 'q']);
    expect([...(entry?.slices ?? [])]).toMatchObject([
      ['s', { uid: 'u3', relabelled: false }],
      ['t', { uid: 'u2', relabelled: false }],
    ]);
    expect(entry).toMatchObject({ endpoints: { uid: 'e2', manager: 'kubectl' }, topology: true });
    expect(entry).toMatchObject({ service: false, snapshot: false, initial: false, digest: false });
  });

  test.each<[DirtyReason, object]>([
    [{ kind: 'relist' }, {}],
    [{ kind: 'digest' }, { digest: true }],
    [{ kind: 'service' }, { service: true }],
    [{ kind: 'topology' }, { topology: true }],
    [{ kind: 'snapshot', initial: false }, { snapshot: true }],
    [
      { kind: 'snapshot', initial: true },
      { snapshot: true, initial: true },
    ],
  ])('%j publishes nothing else', (reason, expected) => {
    const flags = { snapshot: false, initial: false, service: false, topology: false, digest: false };
    expect(add(reason)).toMatchObject({ ...flags, endpoints: undefined, ...expected });
  });

  const causes = () => set.take(text)?.causes.first.map(({ description }) => description);

  describe.each(echoes)('a watch echo, $kind,', (echo) => {
    test('is the cause of a Change that has nothing else', () => {
      add(echo, 'echo');
      expect(add(echo, 'another echo').isWatchEcho).toBe(true);
      expect(causes()).toEqual(['echo', 'another echo']);
    });

    test('is no cause of a Change that something else comes with, before or after', () => {
      add(echo, 'echo');
      expect(add(change, 'change').isWatchEcho).toBe(false);
      expect(add(echo, 'another echo').isWatchEcho).toBe(false);
      expect(causes()).toEqual(['change']);
    });

    test('is published all the same', () => {
      add(change, 'change');
      add(echo, 'echo');
      const entry = set.take(text);
      expect(echo.kind === 'slice' ? entry?.slices.has('s') : entry?.endpoints?.uid).toBeTruthy();
    });
  });

  test('a later cause belongs to the next Change once the entry is taken', () => {
    add(change, 'first');
    set.take(text);
    add(change, 'second');
    expect(causes()).toEqual(['second']);
  });
});

describe('published services', () => {
  const [web, db] = ['c/shop/web', 'c/shop/db'];
  let published: PublishedServices;

  beforeEach(() => {
    published = new PublishedServices();
  });

  const names = () => [...published].map(formatServiceKey);

  describe('the next Change of a Service must be a snapshot', () => {
    test('if it is the first', () => {
      expect([published.add(web), published.add(web), published.add(db)]).toEqual([true, false, true]);
      expect(names()).toEqual([web, db]);
    });

    test('once after nothing of the Service was left', () => {
      published.add(web);
      published.markEmptied(web);
      expect([published.add(web), published.add(web)]).toEqual([true, false]);
    });

    test('not if another watcher has published its current state', () => {
      published.restore(web);
      expect(published.add(web)).toBe(false);
    });

    test('if it was dropped, also after nothing of it was left', () => {
      published.add(web);
      published.markEmptied(web);
      published.delete(web);
      expect(names()).toEqual([]);
      expect([published.add(web), published.add(web)]).toEqual([true, false]);
    });
  });

  test('a Service that was never published is not emptied', () => {
    published.markEmptied(web);
    published.restore(web);
    expect(published.add(web)).toBe(false);
  });

  test('Services may be dropped while they are listed', () => {
    for (const service of [web, db]) published.add(service);
    for (const key of published) published.delete(formatServiceKey(key));
    expect(names()).toEqual([]);
  });

  describe('rounds', () => {
    const inRound = (round: number, rounds: number, partitions: number) =>
      published.inRound(round, rounds, partitions).map(formatServiceKey);
    const services = Array.from({ length: 10 }, (_, i) => `c/shop/web-${i}`);

    test('cover every Service once, in slices of equal size', () => {
      for (const service of services) published.add(service);
      const slices = Array.from({ length: 5 }, (_, round) => inRound(round, 5, 1));
      expect(slices.map(({ length }) => length)).toEqual([2, 2, 2, 2, 2]);
      expect(slices.flat().sort()).toEqual(services);
      expect(inRound(5, 5, 1)).toEqual(slices[0]);
    });

    test('have at least one Service of each partition, in rotation', () => {
      for (const service of services) published.add(service);
      const partitions = 3;
      const used = new Set(services.map((service) => partitionOf(service, partitions)));
      const seen = new Set<string>();
      // Fewer Services than rounds: later rounds begin again.
      for (let round = 20; round < 60; round++) {
        const chosen = inRound(round, 60, partitions);
        expect(new Set(chosen.map((service) => partitionOf(service, partitions)))).toEqual(used);
        expect(chosen).toHaveLength(used.size);
        for (const service of chosen) seen.add(service);
      }
      expect([...seen].sort()).toEqual(services);
    });

    test('are empty without Services', () => expect(inRound(0, 5, 3)).toEqual([]));
  });
});
