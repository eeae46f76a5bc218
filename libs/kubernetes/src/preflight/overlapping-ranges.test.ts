import { type IpRange, joinRanges, overlaps, parseCidr } from '@sluice/model';
import { randomInteger, seededRandom } from '@sluice/platform';
import { expect, test } from 'vitest';
import { type ClusterRanges, findOverlappingRanges } from './overlapping-ranges.ts';

const cluster = (name: string, ranges: readonly IpRange[]): ClusterRanges => ({ name, ranges: joinRanges(ranges) });
const ofCidrs = (name: string, ...cidrs: readonly string[]) =>
  cluster(
    name,
    cidrs.flatMap((cidr) => parseCidr(cidr) ?? []),
  );

/** Compares every range with every other one. */
function naively(clusters: readonly ClusterRanges[]): readonly (readonly [ClusterRanges, ClusterRanges])[] {
  const common = (one: ClusterRanges, other: ClusterRanges) => ({
    name: one.name,
    ranges: one.ranges.filter((range) => other.ranges.some((against) => overlaps(range, against))),
  });
  return clusters.flatMap((one, index) =>
    clusters.slice(index + 1).flatMap((other) => {
      const pair = [common(one, other), common(other, one)] as const;
      return pair[0].ranges.length === 0 ? [] : [pair];
    }),
  );
}

const namesOf = ([one, other]: readonly [ClusterRanges, ClusterRanges]) => `${one.name} ${other.name}`;
const sorted = (pairs: readonly (readonly [ClusterRanges, ClusterRanges])[]) =>
  pairs.toSorted((a, b) => (namesOf(a) < namesOf(b) ? -1 : 1));

const seeds =
  process.env.SEED === undefined ? Array.from({ length: 200 }, (_, i) => i + 1) : [Number(process.env.SEED)];

test.each(seeds)('agrees with a naive comparison, seed %i', (seed) => {
  const random = seededRandom(seed);
  const space = randomInteger(random, 20, 400);
  const range = (): IpRange => {
    const first = randomInteger(random, 0, space);
    const family = random.next() < 0.5 ? 'IPv4' : 'IPv6';
    return { family, first: BigInt(first), last: BigInt(first + randomInteger(random, 0, 8)) };
  };
  const clusters = Array.from({ length: randomInteger(random, 0, 12) }, (_, i) =>
    cluster(`c${i}`, Array.from({ length: randomInteger(random, 0, 6) }, range)),
  );
  const expected = naively(clusters);
  const involved = new Set(expected.flatMap(([one, other]) => [one.name, other.name])).size;
  const all = findOverlappingRanges(clusters, Number.POSITIVE_INFINITY);
  expect(sorted(all.pairs)).toEqual(sorted(expected));
  expect(all.clusters).toBe(involved);
  const maxPairs = randomInteger(random, 0, 4);
  const some = findOverlappingRanges(clusters, maxPairs);
  expect(some.clusters).toBe(involved);
  expect(some.pairs).toHaveLength(Math.min(maxPairs, expected.length));
  const known = new Set(expected.map(namesOf));
  expect(some.pairs.map(namesOf).filter((names) => !known.has(names))).toEqual([]);
});

test('a pair has the ranges that overlap, and no others', () => {
  const east = ofCidrs('east', '10.0.0.0/24', '10.0.2.0/24', '10.0.9.0/24');
  const west = ofCidrs('west', '10.0.0.128/25', '10.0.2.0/23', '10.0.5.0/24');
  const { pairs } = findOverlappingRanges([east, west], 10);
  expect(pairs).toEqual([
    [ofCidrs('east', '10.0.0.0/24', '10.0.2.0/24'), { name: 'west', ranges: west.ranges.slice(0, 2) }],
  ]);
});

/** 1,000 clusters of 1,000 Nodes, whose ranges do not join. `base` is the first address of a cluster. */
const large = (base: (cluster: number) => number) =>
  Array.from({ length: 1_000 }, (_, cluster) => {
    const ranges = Array.from({ length: 1_000 }, (_, node) => {
      const first = BigInt(base(cluster) + node * 32);
      return { family: 'IPv4' as const, first, last: first + 15n, members: 1 };
    });
    return { name: `c${cluster}`, ranges };
  });

test('finds the one overlap of 1,000 clusters with 1,000 Nodes', () => {
  const base = (index: number) => (index === 700 ? 300 * 32_000 + 999 * 32 + 8 : index * 32_000);
  const { clusters, pairs } = findOverlappingRanges(large(base), 10);
  expect(clusters).toBe(3);
  expect(pairs.map(namesOf)).toEqual(['c300 c700', 'c301 c700']);
});

test('names a few pairs of 1,000 clusters that all overlap, and counts the clusters', () => {
  const { clusters, pairs } = findOverlappingRanges(
    large(() => 0),
    10,
  );
  expect(clusters).toBe(1_000);
  expect(new Set(pairs.map(namesOf)).size).toBe(10);
});
