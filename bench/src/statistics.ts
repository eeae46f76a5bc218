/** Percentile by nearest rank; NaN for no values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** A p99 of fewer samples is not reported: that of 100 is their second largest. */
export const samplesForP99 = 1_000;

/** A percentile for a report; NaN if fewer than ten samples lie above it, i.e. of fewer than `samplesForP99` for a p99. */
export function reliablePercentile(values: readonly number[], share: number): number {
  return isReliable(values.length, share) ? percentile(values, share) : Number.NaN;
}

/** Whether so many samples suffice for a percentile. The maximum needs none above it. */
export function isReliable(samples: number, share: number): boolean {
  return share === 1 || samples * (1 - share) >= samplesForP99 * 0.01 - 1e-9;
}

/** Median, ignoring NaN; NaN for no values. */
export function median(values: readonly number[]): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  const low = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
  const high = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  return (low + high) / 2;
}

/** Rounds every number to this many digits after the decimal point, at any depth; for readable JSON. */
export function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toFixed(3)) : value;
}
