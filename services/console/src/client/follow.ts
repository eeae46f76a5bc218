import { AnswerError } from './answer-error.ts';
import type { HistoryEntry } from './console-client.ts';

export interface FollowedOptions {
  /** Entries that have been told already. */
  readonly told: readonly HistoryEntry[];
  /** Nothing before that time is wanted. */
  readonly since: number;
  readonly now: () => number;
  /** The console is gone; told once, until it is back. */
  readonly onLost: () => void;
  /** Before it is asked again. */
  readonly pause: () => Promise<unknown>;
}

/** What may have happened, or be learned late, while nobody was connected. */
const overlapMs = 60_000;

/**
 * The entries of a stream that have not been told, without end: a stream that ends is opened again. Late ones come with an
 * earlier time, so the time alone does not tell what is new.
 */
export async function* followed(
  open: (since: number) => AsyncIterable<HistoryEntry>,
  { told, since, now, onLost, pause }: FollowedOptions,
): AsyncGenerator<HistoryEntry> {
  let known = new Set(told.map(keyOf));
  let from = Math.max(since, now() - overlapMs);
  let lost = false;
  for (;;) {
    try {
      for await (const entry of open(from)) {
        lost = false;
        const key = keyOf(entry);
        if (known.has(key)) continue;
        known.add(key);
        // One minute of the busiest Service has fewer.
        if (known.size > 20_000) known = new Set([...known].slice(-10_000));
        yield entry;
      }
    } catch (error) {
      if (!(error instanceof AnswerError)) throw error;
    }
    if (!lost) onLost();
    lost = true;
    from = Math.max(since, from, now() - overlapMs);
    await pause();
  }
}

const keyOf = (entry: HistoryEntry): string => JSON.stringify(entry);
