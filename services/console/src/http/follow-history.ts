import { formatServiceKey } from '@sluice/messages';
import type { Clock } from '@sluice/runtime';
import type { Entry } from '../history/entry.ts';
import type { History } from '../history/history.ts';
import type { Journal } from '../history/journal.ts';
import type { EventStream } from './event-stream.ts';

/** How long to wait for further records before new ones are applied and sent. */
const settleMs = 100;

/**
 * Sends each entry that `isWanted` as an event `entry`: existing ones, then new ones in the order in which they are
 * learned, so an entry may be earlier than the one before it. Ends when no history of the Service is left.
 */
export function followHistory(
  stream: EventStream,
  journal: Journal,
  history: History,
  clock: Clock,
  isWanted: (entry: Entry) => boolean,
): void {
  let told: { readonly entries: readonly Entry[]; readonly count: number } = { entries: [], count: 0 };
  const tell = () => {
    const { entries } = journal;
    for (const entry of newEntries(told, entries)) if (isWanted(entry)) stream.send('entry', entry);
    told = { entries, count: entries.length };
  };
  let cancel: (() => void) | undefined;
  const settled = () => {
    cancel = undefined;
    if (history.get(journal.key) !== journal) return stream.end();
    // A client that has not read the last entries yet gets the next ones when it has.
    if (stream.isFull) cancel = clock.schedule(settleMs, settled);
    else tell();
  };
  const name = formatServiceKey(journal.key);
  const unsubscribe = history.onRecord((key) => {
    if (formatServiceKey(key) === name) cancel ??= clock.schedule(settleMs, settled);
  });
  stream.onEnd(() => {
    cancel?.();
    unsubscribe();
  });
  tell();
}

/** If a late record or dropped ones caused a new replay, entries that were sent before are not sent again. */
function newEntries(told: { readonly entries: readonly Entry[]; readonly count: number }, now: readonly Entry[]) {
  if (now === told.entries) return now.slice(told.count);
  const known = new Set(told.entries.slice(0, told.count).map((entry) => JSON.stringify(entry)));
  return now.filter((entry) => !known.has(JSON.stringify(entry)));
}
