import type { DoneEntry, Entry } from '../history/entry.ts';

/** The last write that changed how a Pod is seen by traffic. */
export interface LastChange {
  readonly at: number;
  /** `added`, `removed` or `changed`. */
  readonly what: string;
  readonly causes: readonly string[];
  readonly latencyMs: number | null;
}

/** For each Pod whose endpoints are not ready any more, or gone, the write that said so to proxies; until it is ready again. */
export function lastUnready(entries: readonly Entry[]): Map<string, Omit<LastChange, 'what'>> {
  const unready = new Map<string, Omit<LastChange, 'what'>>();
  for (const entry of entries) {
    if (entry.kind !== 'done') continue;
    for (const { pod, before, after } of entry.endpoints) {
      if (after?.ready) unready.delete(pod);
      else if (before?.ready && pod !== '')
        unready.set(pod, { at: entry.at, causes: causesOf(entry), latencyMs: entry.latencyMs });
    }
  }
  return unready;
}

/** For each Pod in whose endpoints the history has a change, the last one. */
export function lastChanges(entries: readonly Entry[]): Map<string, LastChange> {
  const last = new Map<string, LastChange>();
  for (const entry of entries) {
    if (entry.kind !== 'done') continue;
    for (const { pod, what } of entry.endpoints) {
      if (pod !== '') last.set(pod, { at: entry.at, what, causes: causesOf(entry), latencyMs: entry.latencyMs });
    }
  }
  return last;
}

function causesOf({ causes }: DoneEntry): string[] {
  const named = causes.first.map(({ description }) => description);
  return causes.more > 0 ? [...named, `and ${causes.more} more`] : named;
}
