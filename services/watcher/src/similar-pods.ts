import type { SimilarPods } from '@sluice/messages';
import type { StringMap } from '@sluice/model';

/** Labels further apart than this are no typo. */
const maxDistance = 2;
/** Limit of the Pods that are compared in a namespace. */
const maxPods = 500;
/** Limit of the Pods that are compared in other namespaces: many Services may have no Pods. */
const maxOthers = 5_000;
/** Values that say nothing about what a Pod is. */
const common = /^(?:true|false|yes|no|v?\d[\d.]*|)$/i;

/**
 * The label of most of the namespace's Pods that resembles one of the selector, by a typo in its value or by another key with
 * the same value: probably what was meant if the selector matches no Pod. Undefined if there is none.
 */
export function findSimilarPods(
  selector: StringMap,
  pods: Iterable<{ readonly labels: StringMap }>,
): SimilarPods | undefined {
  const counts = new Map<string, SimilarPods>();
  let compared = 0;
  for (const { labels } of pods) {
    if (compared++ === maxPods) break;
    for (const label of new Set(similarLabels(selector, labels))) {
      counts.set(label, { label, pods: (counts.get(label)?.pods ?? 0) + 1 });
    }
  }
  return [...counts.values()].sort((a, b) => b.pods - a.pods || (a.label < b.label ? -1 : 1))[0];
}

/** Whether one of the labels resembles one of the selector. */
export function resembles(selector: StringMap | null, labels: StringMap): boolean {
  return similarLabels(selector ?? {}, labels).length > 0;
}

function similarLabels(selector: StringMap, labels: StringMap): readonly string[] {
  return Object.entries(selector).flatMap(([key, wanted]) => {
    const value = labels[key];
    if (value !== undefined) return isSimilar(value, wanted) ? [`${key}=${value}`] : [];
    if (common.test(wanted)) return [];
    return Object.keys(labels).flatMap((other) =>
      labels[other] === wanted && selector[other] === undefined ? [`${other}=${wanted}`] : [],
    );
  });
}

/** Pods of the other namespace with most Pods that the selector matches. Undefined if there are none. */
export function findElsewhere(
  selector: StringMap,
  others: Iterable<readonly [namespace: string, pods: Iterable<{ readonly labels: StringMap }>]>,
): SimilarPods | undefined {
  const wanted = Object.entries(selector);
  if (wanted.length === 0) return undefined;
  const label = wanted.map(([key, value]) => `${key}=${value}`).join(',');
  let compared = 0;
  let found: SimilarPods | undefined;
  for (const [namespace, pods] of others) {
    let matching = 0;
    for (const { labels } of pods) {
      if (compared++ === maxOthers) return found;
      if (wanted.every(([key, value]) => labels[key] === value)) matching++;
    }
    if (matching > (found?.pods ?? 0)) found = { label, pods: matching, namespace };
  }
  return found;
}

/** Whether two different values are at most two edits apart, and less than half of their length. */
function isSimilar(a: string, b: string): boolean {
  if (a === b || Math.abs(a.length - b.length) > maxDistance) return false;
  const limit = Math.min(maxDistance, Math.floor(Math.max(a.length, b.length) / 2));
  return distance(a, b) <= limit;
}

/** Edits between two words, where two exchanged characters are one (optimal string alignment). */
function distance(a: string, b: string): number {
  let before: readonly number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isExchanged = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const exchanged = isExchanged ? (before[j - 2] ?? 0) + 1 : replaced;
      next.push(Math.min(replaced, exchanged, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
