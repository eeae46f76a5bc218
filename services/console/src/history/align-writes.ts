/** A state that an event has made the right one, until the next event. */
export interface ExpectedState {
  readonly content: string;
  /** When the event arrived; undefined: before the history began. */
  readonly since: number | undefined;
}

/** A state that a controller has written. */
export interface WrittenState {
  readonly content: string;
  /** When the watch showed the write. */
  readonly at: number;
}

/** A controller needs longer than this from an event to the watch event of its write, in milliseconds. */
const minLatencyMs = 1;
/** How much later than the write the event that caused it may arrive, in milliseconds: two watches can be out of step. */
const maxEarlyMs = 5_000;
/** An event that arrives late is less likely than a write that is late, in multiples of the delay. */
const earlyWeight = 20;
/** One more write that has an event outweighs any delay, in milliseconds. */
const aligned = 1e9;
const maxDelayMs = 1e6;

/**
 * The event that each write shows, as an index into `expected`; -1: none. `expected` and `written` are in the order of their
 * arrival. Writes follow the order of the events, but a controller may skip events. As many writes as possible have an event,
 * and each is as close as possible to the time when its content was expected.
 */
export function alignWrites(expected: readonly ExpectedState[], written: readonly WrittenState[]): readonly number[] {
  const width = written.length + 1;
  // Best score of the first i expected and the first j written states, at i * width + j.
  const best = new Float64Array((expected.length + 1) * width);
  const at = (i: number, j: number) => best[i * width + j] ?? 0;
  for (let i = 1; i <= expected.length; i++)
    for (let j = 1; j < width; j++)
      best[i * width + j] = Math.max(
        at(i - 1, j),
        at(i, j - 1),
        at(i - 1, j - 1) + score(expected, i - 1, written[j - 1]),
      );

  const events = written.map(() => -1);
  for (let i = expected.length, j = written.length; i > 0 && j > 0; ) {
    // Of two writes of one state, the second one is a repetition.
    if (at(i, j - 1) === at(i, j)) j--;
    else if (at(i - 1, j) === at(i, j)) i--;
    else events[--j] = --i;
  }
  return events;
}

/** Negative if the write cannot show the event. */
function score(expected: readonly ExpectedState[], index: number, written: WrittenState | undefined): number {
  const state = expected[index];
  if (state === undefined || written === undefined || state.content !== written.content)
    return Number.NEGATIVE_INFINITY;
  const { since = Number.NEGATIVE_INFINITY } = state;
  const earlyMs = Math.max(0, since + minLatencyMs - written.at);
  if (earlyMs > maxEarlyMs) return Number.NEGATIVE_INFINITY;
  const lateMs = Math.max(0, written.at - (expected[index + 1]?.since ?? Number.POSITIVE_INFINITY));
  return aligned - Math.min(maxDelayMs, lateMs + earlyMs * earlyWeight);
}
