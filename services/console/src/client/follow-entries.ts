import { type HistoryEntry, QueryError } from './console-client.ts';

interface FollowOptions {
  /** Entries that are already known. */
  readonly known: readonly HistoryEntry[];
  /** Start of the period, in milliseconds since the Unix epoch. */
  readonly since: number;
  readonly now: () => number;
  /** Called once when the connection is lost. */
  readonly onLost: () => void;
  /** Waits before reconnecting. */
  readonly pause: () => Promise<unknown>;
}

/** Covers entries that arrived while disconnected, and late ones. */
const overlapMs = 60_000;
/** More than the busiest Service has in `overlapMs`. */
const maxKnown = 20_000;

/**
 * Follows a stream forever and yields each new entry once. Reconnects when the stream ends. Late entries have an earlier
 * time, so entries are compared by content.
 */
export async function* followEntries(
  open: (since: number) => AsyncIterable<HistoryEntry>,
  { known, since, now, onLost, pause }: FollowOptions,
): AsyncGenerator<HistoryEntry> {
  let keys = new Set(known.map(keyOf));
  let from = Math.max(since, now() - overlapMs);
  let isLost = false;
  for (;;) {
    try {
      for await (const entry of open(from)) {
        isLost = false;
        const key = keyOf(entry);
        if (keys.has(key)) continue;
        keys.add(key);
        if (keys.size > maxKnown) keys = new Set([...keys].slice(-maxKnown / 2));
        yield entry;
      }
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
    }
    if (!isLost) onLost();
    isLost = true;
    from = Math.max(since, from, now() - overlapMs);
    await pause();
  }
}

const keyOf = (entry: HistoryEntry): string => JSON.stringify(entry);
