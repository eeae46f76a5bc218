import { formatServiceKey, partitionOf } from '@sluice/messages';
import { beforeEach, describe, expect, test } from 'vitest';
import { PublishedServices } from './published-services.ts';

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
