import type { Entry } from '../history/entry.ts';
import { isBeingDeleted } from '../history/pod-news.ts';

/** When each Pod was first seen being deleted, the last one of its name, as far as it is kept; gone ones too. */
export function deletingSince(entries: readonly Entry[]): Map<string, number> {
  const since = new Map<string, number>();
  for (const entry of entries) {
    if (entry.kind !== 'seen') continue;
    const begun = new Set<string>();
    for (const { of, name, what } of entry.news) {
      if (of !== 'pod') continue;
      if (what === isBeingDeleted) begun.add(name);
      // Another one of the name, or one that is seen for the first time: it is not known since when.
      else if (/^(appeared|was replaced)/.test(what)) since.delete(name);
    }
    for (const name of begun) since.set(name, entry.at);
  }
  return since;
}
