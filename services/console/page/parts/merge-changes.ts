import type { RecentChange } from '../../src/view/schemas.ts';

/**
 * Writes of both lists, newest first, each once: the first update of the stream repeats the writes of the last second, which
 * the page has loaded already.
 */
export function mergeChanges(
  some: readonly RecentChange[],
  others: readonly RecentChange[],
  max: number,
): readonly RecentChange[] {
  const byKey = new Map([...some, ...others].map((change) => [keyOf(change), change]));
  return [...byKey.values()].sort((a, b) => b.at - a.at).slice(0, max);
}

/** Identifies a write in lists. */
export const keyOf = ({ at, cluster, namespace, name, controller }: RecentChange): string =>
  [at, cluster, namespace, name, controller].join('/');
