import { fnv1a128 } from './fnv-1a-128.ts';

/** Maximum number of remembered hashes. */
const memoLimit = 8192;
const memo = new Map<string, string>();

/** The hash of a text that recurs: a cluster has few distinct ports and port lists. */
export function memoisedHash(text: string): string {
  let hash = memo.get(text);
  if (hash === undefined) {
    if (memo.size >= memoLimit) memo.clear();
    hash = fnv1a128(text);
    memo.set(text, hash);
  }
  return hash;
}

/** Returns the items in the order of their hashes; the same list if it has fewer than two. */
export function sortedByHash<T>(items: readonly T[], hash: (item: T) => string): readonly T[] {
  if (items.length < 2) return items;
  const hashed = items.map((item) => ({ item, hash: hash(item) }));
  hashed.sort((a, b) => (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0));
  return hashed.map(({ item }) => item);
}
