import { formatServiceKey } from '@sluice/messages';
import type { Clock } from '@sluice/runtime';
import type { History } from '../history/history.ts';
import type { Journal } from '../history/journal.ts';
import type { Entry } from '../view/entry-schemas.ts';
import type { EventStream } from './event-stream.ts';

/** Period in which new records are collected before they are replayed and sent. */
const batchMs = 100;

/**
 * Sends each entry that `isWanted` as an event `entry`: existing ones, then new ones as they are received, so an entry may
 * be earlier than the previous one. Ends the stream when the history of the Service has expired.
 */
export function streamHistory(
  stream: EventStream,
  journal: Journal,
  history: History,
  clock: Clock,
  isWanted: (entry: Entry) => boolean,
): void {
  let sent: { readonly entries: readonly Entry[]; readonly count: number } = { entries: [], count: 0 };
  const send = () => {
    const { entries } = journal;
    for (const entry of newEntries(sent, entries)) if (isWanted(entry)) stream.send('entry', entry);
    sent = { entries, count: entries.length };
  };
  let cancel: (() => void) | undefined;
  const flush = () => {
    cancel = undefined;
    if (history.get(journal.key) !== journal) return stream.end();
    // Entries for a slow client wait until it has read the previous ones.
    if (stream.isFull) cancel = clock.schedule(batchMs, flush);
    else send();
  };
  const name = formatServiceKey(journal.key);
  const unsubscribe = history.onRecord((key) => {
    if (formatServiceKey(key) === name) cancel ??= clock.schedule(batchMs, flush);
  });
  stream.onEnd(() => {
    cancel?.();
    unsubscribe();
  });
  send();
}

/** After a replay from the start, which a late plan or dropped records cause, entries are compared by content. */
function newEntries(sent: { readonly entries: readonly Entry[]; readonly count: number }, now: readonly Entry[]) {
  if (now === sent.entries) return now.slice(sent.count);
  const known = new Set(sent.entries.slice(0, sent.count).map((entry) => JSON.stringify(entry)));
  return now.filter((entry) => !known.has(JSON.stringify(entry)));
}
