import type { CompletedEntry, Entry } from '../view/entry-schemas.ts';
import type { PodView } from '../view/schemas.ts';

type LastChange = NonNullable<PodView['lastChange']>;
type Write = NonNullable<PodView['unready']>;

/** For each Pod whose endpoint is not ready or removed: the write that made it so. */
export function lastUnready(entries: readonly Entry[]): Map<string, Write> {
  const unready = new Map<string, Write>();
  for (const { change, write } of changesOf(entries)) {
    if (change.after?.ready) unready.delete(change.pod);
    else if (change.before?.ready) unready.set(change.pod, write);
  }
  return unready;
}

/** The last change of each Pod's endpoints. */
export function lastChanges(entries: readonly Entry[]): Map<string, LastChange> {
  const last = new Map<string, LastChange>();
  for (const { change, write } of changesOf(entries)) last.set(change.pod, { ...write, type: change.type });
  return last;
}

/** Changes of Pods' endpoints, with their writes. */
function* changesOf(entries: readonly Entry[]) {
  for (const entry of entries) {
    if (entry.kind !== 'completed' || entry.endpoints.length === 0) continue;
    const write = { at: entry.at, causes: describeCauses(entry), latencyMs: entry.latencyMs };
    for (const change of entry.endpoints) if (change.pod !== '') yield { change, write };
  }
}

function describeCauses({ causes }: CompletedEntry): string[] {
  const listed = causes.first.map(({ description }) => description);
  return causes.more > 0 ? [...listed, `and ${causes.more} more`] : listed;
}
