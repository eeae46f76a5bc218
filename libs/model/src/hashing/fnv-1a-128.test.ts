import { expect, it } from 'vitest';
import { fnv1a128, memoisedFnv1a128 } from './fnv-1a-128.ts';

it.each([
  ['', '6c62272e07bb014262b821756295c58d'],
  ['a', 'd228cb696f1a8caf78912b704e4a8964'],
])('hashes %j (L1)', (text, hash) => {
  expect(fnv1a128(text)).toBe(hash);
});

it('matches the definition over UTF-8', () => {
  const text = 'Ba<~ ä € 😀 \u0000 tail';
  let hash = 0x6c62272e07bb014262b821756295c58dn;
  for (const byte of new TextEncoder().encode(text)) {
    hash = ((hash ^ BigInt(byte)) * ((1n << 88n) + 0x13bn)) & ((1n << 128n) - 1n);
  }
  expect(fnv1a128(text)).toBe(hash.toString(16).padStart(32, '0'));
});

it('returns the same hashes from the memo, also after it was cleared', () => {
  const hashOf = memoisedFnv1a128(2);
  for (const text of ['a', 'b', 'c', 'a', 'b', 'c', 'a']) expect(hashOf(text)).toBe(fnv1a128(text));
});
