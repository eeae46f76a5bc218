import { becameNotReady, becameReady, isBeingDeleted } from '../history/describe-pod-change.ts';
import type { Entry } from '../view/entry-schemas.ts';
import type { PodView } from '../view/schemas.ts';
import { writesIn } from '../view/writes-in.ts';

export type PodHistory = Pick<PodView, 'deletingSince' | 'lastChange' | 'unready' | 'readinessChanges'>;

export const noHistory: PodHistory = { deletingSince: null, lastChange: null, unready: null, readinessChanges: 0 };

/** Period in which changes of readiness are counted, in milliseconds. */
const flappingMs = 60_000;

/**
 * What the entries up to `at` say about each Pod by name: the start of its deletion, how often its readiness changed in the
 * last minute, and the last writes to its endpoints.
 */
export function podHistories(entries: readonly Entry[], at: number): ReadonlyMap<string, PodHistory> {
  const histories = new Map<string, PodHistory>();
  const update = (pod: string, part: Partial<PodHistory>) =>
    histories.set(pod, { ...(histories.get(pod) ?? noHistory), ...part });
  for (const entry of entries) {
    if (entry.kind === 'observed') {
      const pods = entry.observations.filter(({ of }) => of === 'pod');
      // Another Pod of this name, or one observed for the first time: the start of its deletion is unknown.
      for (const { name, text } of pods)
        if (/^(appeared|was replaced)/.test(text)) update(name, { deletingSince: null });
      for (const { name, text } of pods) {
        if (entry.at <= at - flappingMs || !(text === becameReady || text.startsWith(becameNotReady))) continue;
        update(name, { readinessChanges: (histories.get(name)?.readinessChanges ?? 0) + 1 });
      }
      for (const { name, text } of pods) if (text.startsWith(isBeingDeleted)) update(name, { deletingSince: entry.at });
    }
    for (const { at, causes, latencyMs, spent, endpoints } of writesIn(entry)) {
      const write = { at, causes: describeCauses(causes), latencyMs, ...(spent && { spent }) };
      for (const { pod, type, before, after } of endpoints) {
        if (pod === '') continue;
        update(pod, { lastChange: { ...write, type } });
        if (after?.ready) update(pod, { unready: null });
        else if (before?.ready) update(pod, { unready: write });
      }
    }
  }
  return histories;
}

function describeCauses({ first, more }: Entry['causes']): string[] {
  const listed = first.map(({ description }) => description);
  return more > 0 ? [...listed, `and ${more} more`] : listed;
}
