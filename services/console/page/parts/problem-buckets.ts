import type { ProblemCounts } from '../../src/view/schemas.ts';
import type { TimeRange } from '../time-range.ts';

const [minute, hour] = [60_000, 3_600_000];
const steps = [1, 2, 5, 10, 15, 30].map((n) => n * minute).concat([1, 2, 3, 6, 12, 24].map((n) => n * hour));
const longest = 24 * hour;

export interface Buckets extends TimeRange {
  readonly stepMs: number;
}

/** Divides a range into buckets that begin at round local times, so that they stay the same as time passes. */
export function bucketsOf({ since, until }: TimeRange, maxBuckets: number): Buckets {
  const isEnough = (ms: number) => Math.floor(until / ms) - Math.floor(since / ms) < maxBuckets;
  const stepMs = steps.find(isEnough) ?? longest * Math.ceil((until - since) / longest / Math.max(1, maxBuckets - 1));
  const zoneMs = new Date(until).getTimezoneOffset() * minute;
  const round = (time: number, to: (value: number) => number) => to((time - zoneMs) / stepMs) * stepMs + zoneMs;
  return { since: round(since, Math.floor), until: round(until, Math.ceil), stepMs };
}

type Counts = Omit<ProblemCounts['clusters'][number]['cells'][number], 'at'>;

export interface Bucket extends TimeRange {
  /** Null: no problems. */
  readonly counts: Counts | null;
  /** How much of it was recorded, from 0 to 1. */
  readonly recorded: number;
}

/** The buckets of a cluster in the order of time. `gaps`: when nothing was recorded, besides before and after `recorded`. */
export function bucketsWith(
  cells: ProblemCounts['clusters'][number]['cells'],
  { since, until, stepMs }: Buckets,
  { recorded, gaps }: { readonly recorded: TimeRange; readonly gaps: readonly { from: number; to: number }[] },
): readonly Bucket[] {
  const counts = new Map(cells.map(({ at, ...counts }) => [at, counts]));
  const missing = [...gaps, { from: since, to: recorded.since }, { from: recorded.until, to: until }];
  return Array.from({ length: Math.round((until - since) / stepMs) }, (_, i) => {
    const [start, end] = [since + i * stepMs, since + (i + 1) * stepMs];
    const missed = missing.reduce(
      (sum, { from, to }) => sum + Math.max(0, Math.min(end, to) - Math.max(start, from)),
      0,
    );
    return { since: start, until: end, counts: counts.get(start) ?? null, recorded: 1 - missed / stepMs };
  });
}

export const severities = ['critical', 'warning', 'info'] as const;

export const totalOf = ({ critical, warning, info }: Counts): number => critical + warning + info;

/** The most severe with problems. */
export const worstOf = (counts: Counts): string => severities.find((severity) => counts[severity] > 0) ?? '';

/** `2 critical`, `3 problems: 2 critical, 1 info` */
export function countsText(counts: Counts): string {
  const texts = severities.flatMap((one) => (counts[one] === 0 ? [] : [`${counts[one]} ${one}`]));
  return texts.length === 1 ? texts.join() : `${totalOf(counts)} problems: ${texts.join(', ')}`;
}
