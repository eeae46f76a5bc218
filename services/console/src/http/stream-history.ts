import { formatServiceKey } from '@sluice/messages';
import type { Journal } from '../history/journal.ts';
import type { Entry } from '../view/entry-schemas.ts';
import type { EventStream } from './event-stream.ts';
import type { RouteContext } from './route-context.ts';

/** Period in which new records are collected before they are replayed and sent. */
const batchMs = 100;
/** Maximum number of entries in one batch, so that a long history does not block the process. */
const maxEntries = 500;

/**
 * Sends each entry that `isWanted` as an event `entry`: existing ones, then new ones as they are received, so an entry may
 * be earlier than the previous one. Ends the stream when the history of the Service has expired.
 */
export function streamHistory(
  stream: EventStream,
  journal: Journal,
  { history, clock, budget }: Pick<RouteContext, 'history' | 'clock' | 'budget'>,
  isWanted: (entry: Entry) => boolean,
): void {
  let sent: { readonly entries: readonly Entry[]; readonly count: number } = { entries: [], count: 0 };
  let unsent: readonly Entry[] = [];
  const collect = () => {
    const { entries } = journal;
    unsent = newEntries(sent, entries).filter(isWanted);
    sent = { entries, count: entries.length };
  };
  let cancel: (() => void) | undefined;
  let hasEnded = false;
  const flush = () => {
    cancel = undefined;
    if (hasEnded) return;
    if (history.get(journal.key) !== journal) return stream.end();
    if (unsent.length === 0) collect();
    // Entries for a slow client wait until it has read the previous ones.
    let count = 0;
    for (const entry of unsent) {
      if (stream.isFull || count >= maxEntries) break;
      stream.send('entry', entry);
      count++;
    }
    const isFlushed = count === unsent.length;
    unsent = unsent.slice(count);
    if (!isFlushed || sent.count < journal.entries.length || sent.entries !== journal.entries) {
      flushLater();
    }
  };
  const flushLater = () => {
    cancel ??= clock.schedule(batchMs, () => void budget.run(flush));
  };
  const name = formatServiceKey(journal.key);
  const unsubscribe = history.onRecord((key) => {
    if (formatServiceKey(key) === name) flushLater();
  });
  stream.onEnd(() => {
    hasEnded = true;
    cancel?.();
    unsubscribe();
  });
  void budget.run(flush);
}

/** After a replay from the start, which a late plan or dropped records cause, entries are compared by content. */
function newEntries(sent: { readonly entries: readonly Entry[]; readonly count: number }, now: readonly Entry[]) {
  if (now === sent.entries) return now.slice(sent.count);
  const known = new Set(sent.entries.slice(0, sent.count).map((entry) => JSON.stringify(entry)));
  return now.filter((entry) => !known.has(JSON.stringify(entry)));
}
