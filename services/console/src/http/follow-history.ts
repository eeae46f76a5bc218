import { formatServiceKey } from '@sluice/messages';
import type { Clock } from '@sluice/runtime';
import type { Entry } from '../history/entry.ts';
import type { History } from '../history/history.ts';
import type { Journal } from '../history/journal.ts';
import type { EventStream } from './event-stream.ts';

/** How long further records are waited for before what is new is folded and told. */
const settleMs = 100;

/**
 * Sends each entry that `isWanted` as an event `entry`: those that are there, then what happens, in the order in which it
 * is learned, so an entry may be of an earlier time than the one before it. Ends when nothing is kept of the Service any
 * more.
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
    // He is told as soon as he has read what he was told before; until then nothing is folded for him.
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

/** Where records came in between others or the oldest were dropped, all is folded anew; what was told then is not told again. */
function newEntries(told: { readonly entries: readonly Entry[]; readonly count: number }, now: readonly Entry[]) {
  if (now === told.entries) return now.slice(told.count);
  const known = new Set(told.entries.slice(0, told.count).map((entry) => JSON.stringify(entry)));
  return now.filter((entry) => !known.has(JSON.stringify(entry)));
}
