/** In whole milliseconds since the Unix epoch. */
export interface TimeRange {
  readonly since: number;
  readonly until: number;
}

/** A shorter range would hide that events have the resolution of a millisecond. */
const shortestMs = 1_000;

/** A range of this length that ends now, or around the time shown. */
export function rangeOfLength(ms: number, at: number | undefined, now: number): TimeRange {
  const until = at === undefined ? now : Math.min(now, at + ms / 2);
  return rounded({ since: until - ms, until });
}

/** A range that is longer by a factor. What happens at `around` stays in its place. */
export function zoomed({ since, until }: TimeRange, factor: number, around: number): TimeRange {
  const length = Math.max(shortestMs, (until - since) * factor);
  const share = (Math.min(until, Math.max(since, around)) - since) / (until - since);
  const start = since + share * (until - since - length);
  return rounded({ since: start, until: start + length });
}

/** The part of a range that is within all; undefined: all of it. */
export function within(all: TimeRange, range: TimeRange): TimeRange | undefined {
  const [since, until] = [Math.max(all.since, range.since), Math.min(all.until, range.until)];
  if (since <= all.since && until >= all.until) return undefined;
  return until - since >= shortestMs ? { since, until } : undefined;
}

export const isWithin = ({ since, until }: TimeRange, at: number): boolean => at >= since && at <= until;

const rounded = ({ since, until }: TimeRange): TimeRange => ({ since: Math.floor(since), until: Math.ceil(until) });
