import { randomInteger, seededRandom } from '@sluice/platform';
import { expect, test } from 'vitest';
import { findSharedAddresses } from './shared-addresses.ts';

const cluster = (name: string, ...uses: readonly (readonly [address: string, user: string])[]) => ({
  name,
  uses: uses.map(([address, user]) => ({ address, user })),
});

test('an address in two clusters is named with its users, once', () => {
  const clusters = [
    cluster('east', ['10.0.0.1', 'shop/a'], ['10.0.0.2', 'shop/b']),
    cluster('west', ['10.0.0.2', 'shop/c'], ['10.0.0.3', 'shop/d'], ['10.0.0.2', 'shop/e']),
    cluster('north', ['10.0.0.2', 'shop/f']),
  ];
  const shared = { address: '10.0.0.2', users: ['east/shop/b', 'west/shop/c'] };
  expect(findSharedAddresses(clusters, 3)).toEqual({ count: 1, examples: [shared] });
});

test('an address twice in one cluster is not shared', () => {
  const east = cluster('east', ['10.0.0.1', 'shop/a'], ['10.0.0.1', 'shop/b']);
  expect(findSharedAddresses([east, cluster('west')], 3)).toEqual({ count: 0, examples: [] });
});

const seeds = process.env.SEED === undefined ? Array.from({ length: 50 }, (_, i) => i + 1) : [Number(process.env.SEED)];

test.each(seeds)('agrees with a naive comparison, seed %i', (seed) => {
  const random = seededRandom(seed);
  const clusters = Array.from({ length: randomInteger(random, 0, 6) }, (_, i) => {
    const uses = Array.from({ length: randomInteger(random, 0, 20) }, (_, pod) => {
      return [`10.0.0.${randomInteger(random, 0, 60)}`, `shop/${pod}`] as const;
    });
    return cluster(`c${i}`, ...uses);
  });
  const addresses = new Set(clusters.flatMap(({ uses }) => uses.map(({ address }) => address)));
  const expected = [...addresses].filter(
    (address) => clusters.filter(({ uses }) => uses.some((use) => use.address === address)).length > 1,
  );
  const { count, examples } = findSharedAddresses(clusters, Number.POSITIVE_INFINITY);
  expect(count).toBe(expected.length);
  expect(examples.map(({ address }) => address).sort()).toEqual(expected.sort());
  expect(findSharedAddresses(clusters, 2).examples).toHaveLength(Math.min(2, expected.length));
});
