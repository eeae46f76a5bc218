import { byFirstAddress, type JoinedRange, overlaps } from '@sluice/model';

export interface ClusterRanges {
  readonly name: string;
  /** From `joinRanges`. */
  readonly ranges: readonly JoinedRange[];
}

export interface OverlappingRanges {
  /** Pairs of clusters, in the order of the list, each with its ranges that overlap some of the other. */
  readonly pairs: readonly (readonly [ClusterRanges, ClusterRanges])[];
  /** The number of clusters that overlap another one, in these pairs or not. */
  readonly clusters: number;
}

interface Placed {
  readonly range: JoinedRange;
  /** Index of its cluster. */
  readonly cluster: number;
}

/** Finds up to `maxPairs` pairs of clusters whose ranges overlap. Sorts the ranges instead of comparing all pairs. */
export function findOverlappingRanges(clusters: readonly ClusterRanges[], maxPairs: number): OverlappingRanges {
  const placed = clusters
    .flatMap(({ ranges }, cluster) => ranges.map((range): Placed => ({ range, cluster })))
    .sort((a, b) => byFirstAddress(a.range, b.range));
  const found = new Set<number>();
  const pairs = new Map<string, readonly [number, number]>();
  /** Those that may reach the next range. */
  let open: Placed[] = [];
  /** Of the ranges so far, the one that ends last. */
  let furthest: Placed | undefined;
  for (const next of placed) {
    // Ranges of one cluster do not overlap, so two that do are of two clusters.
    if (furthest !== undefined && overlaps(furthest.range, next.range)) found.add(furthest.cluster).add(next.cluster);
    if (furthest === undefined || !overlaps(furthest.range, next.range) || next.range.last > furthest.range.last) {
      furthest = next;
    }
    if (pairs.size === maxPairs) continue;
    // All of these contain the first address of `next`: they are few as long as few pairs are found.
    open = open.filter(({ range }) => overlaps(range, next.range));
    for (const { cluster } of open) {
      const pair = [Math.min(cluster, next.cluster), Math.max(cluster, next.cluster)] as const;
      if (pairs.size < maxPairs) pairs.set(pair.join(), pair);
    }
    open.push(next);
  }
  return {
    clusters: found.size,
    pairs: [...pairs.values()].flatMap(([a, b]) => {
      const [one, other] = [clusters[a], clusters[b]];
      return one === undefined || other === undefined ? [] : [[inCommon(one, other), inCommon(other, one)] as const];
    }),
  };
}

/** The cluster with those of its ranges that overlap one of the other's. */
function inCommon({ name, ranges }: ClusterRanges, other: ClusterRanges): ClusterRanges {
  let at = 0;
  const reaches = (range: JoinedRange): boolean => {
    for (; ; at++) {
      const against = other.ranges[at];
      if (against === undefined) return false;
      if (overlaps(against, range)) return true;
      if (byFirstAddress(against, range) > 0) return false;
    }
  };
  return { name, ranges: ranges.filter(reaches) };
}
