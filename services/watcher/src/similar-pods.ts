import type { SimilarPods } from '@sluice/messages';
import type { StringMap } from '@sluice/model';

/** Labels further apart than this are no typo. */
const maxDistance = 2;
/** Limit of the Pods that are compared. */
const maxPods = 500;

/**
 * The label value of most of the namespace's Pods that resembles one of the selector: probably what was meant if the
 * selector matches no Pod. Undefined if there is none.
 */
export function findSimilarPods(
  selector: StringMap,
  pods: Iterable<{ readonly labels: StringMap }>,
): SimilarPods | undefined {
  const counts = new Map<string, SimilarPods>();
  let compared = 0;
  for (const { labels } of pods) {
    if (compared++ === maxPods) break;
    for (const [key, wanted] of Object.entries(selector)) {
      const value = labels[key];
      if (value === undefined || !isSimilar(value, wanted)) continue;
      const label = `${key}=${value}`;
      counts.set(label, { label, pods: (counts.get(label)?.pods ?? 0) + 1 });
    }
  }
  return [...counts.values()].sort((a, b) => b.pods - a.pods || (a.label < b.label ? -1 : 1))[0];
}

/** Whether one of the labels resembles one of the selector. */
export function resembles(selector: StringMap | null, labels: StringMap): boolean {
  return Object.entries(selector ?? {}).some(([key, wanted]) => {
    const value = labels[key];
    return value !== undefined && isSimilar(value, wanted);
  });
}

/** Whether two different values are at most two edits apart, and less than half of their length. */
function isSimilar(a: string, b: string): boolean {
  if (a === b || Math.abs(a.length - b.length) > maxDistance) return false;
  const limit = Math.min(maxDistance, Math.floor(Math.max(a.length, b.length) / 2));
  return distance(a, b) <= limit;
}

/** Levenshtein distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
