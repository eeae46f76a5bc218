/** How many values are in each bucket, in ascending order. A bucket ends at its first number, 2 % above the one before. */
export type Histogram = readonly (readonly [upTo: number, count: number])[];

const growth = 1.02;
/** Smaller values count as this one. */
const least = 0.01;

export function histogramOf(values: readonly number[]): Histogram {
  return inOrder(values.map((value) => [limitOf(value), 1]));
}

/** All values of several histograms. */
export function merged(histograms: readonly Histogram[]): Histogram {
  return inOrder(histograms.flat());
}

export const sizeOf = (histogram: Histogram): number => histogram.reduce((sum, [, count]) => sum + count, 0);

/** Percentile by nearest rank, at most 2 % too high; NaN for no values. */
export function percentileIn(histogram: Histogram, share: number): number {
  const rank = Math.max(1, Math.ceil(share * sizeOf(histogram)));
  let below = 0;
  for (const [upTo, count] of histogram) {
    below += count;
    if (below >= rank) return upTo;
  }
  return Number.NaN;
}

function limitOf(value: number): number {
  const steps = Math.ceil(Math.log(Math.max(value, least) / least) / Math.log(growth) - 1e-9);
  return Number((least * growth ** steps).toPrecision(4));
}

function inOrder(entries: Histogram): Histogram {
  const counts = new Map<number, number>();
  for (const [upTo, count] of entries) counts.set(upTo, (counts.get(upTo) ?? 0) + count);
  return [...counts].sort(([a], [b]) => a - b);
}
