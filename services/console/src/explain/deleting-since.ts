import { isBeingDeleted } from '../history/describe-pod-change.ts';
import type { Entry } from '../view/entry-schemas.ts';

/** When the deletion of each Pod was first observed, for the last Pod of a name, whether it still exists or not. */
export function deletingSince(entries: readonly Entry[]): Map<string, number> {
  const since = new Map<string, number>();
  for (const entry of entries) {
    if (entry.kind !== 'observed') continue;
    const started = new Set<string>();
    for (const { of, name, text } of entry.observations) {
      if (of !== 'pod') continue;
      if (text === isBeingDeleted) started.add(name);
      // Another Pod of this name, or one observed for the first time: the start of its deletion is unknown.
      else if (/^(appeared|was replaced)/.test(text)) since.delete(name);
    }
    for (const name of started) since.set(name, entry.at);
  }
  return since;
}
