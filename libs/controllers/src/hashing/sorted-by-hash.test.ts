import { expect, it } from 'vitest';
import { fnv1a128 } from './fnv-1a-128.ts';
import { memoisedHash, sortedByHash } from './sorted-by-hash.ts';

it('returns the same hashes from the memo, also after it was cleared', () => {
  const texts = Array.from({ length: 10_000 }, (_, i) => `port ${i}`);
  for (const text of [...texts, ...texts.slice(0, 10)]) expect(memoisedHash(text)).toBe(fnv1a128(text));
});

it('sorts by hash, in any order of the items', () => {
  const sorted = sortedByHash(['a', 'b', 'c'], fnv1a128);
  expect(sorted.map(fnv1a128)).toEqual(['a', 'b', 'c'].map(fnv1a128).sort());
  expect(sortedByHash(['c', 'b', 'a'], fnv1a128)).toEqual(sorted);
});
