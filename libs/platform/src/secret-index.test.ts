import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SecretIndex } from './secret-index.ts';

const letters = (min: number, max: number) =>
  fc.array(fc.constantFrom('a', 'b', 'é', '漢'), { minLength: min, maxLength: max }).map((list) => list.join(''));

/** Which characters of the text belong to an occurrence, found the slow way. */
function covered(text: string, secrets: readonly string[]): readonly boolean[] {
  const marks = Array.from({ length: text.length }, () => false);
  for (const secret of secrets)
    for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1))
      marks.fill(true, at, at + secret.length);
  return marks;
}

test('every occurrence of every text is masked, also if they overlap, and nothing else', () => {
  fc.assert(
    fc.property(fc.array(letters(4, 7)), fc.array(letters(4, 7)), letters(0, 80), (secrets, removed, text) => {
      const index = new SecretIndex();
      for (const secret of [...secrets, ...removed]) index.add(secret);
      for (const secret of removed) index.remove(secret);
      const marks = covered(text, secrets);
      const expected = [...text].map((one, i) => (marks[i] ? '*' : one)).join('');
      expect(index.mask(text)).toBe(expected.replace(/\*+/g, '***'));
    }),
  );
});

test('a text stays while somebody who added it has not removed it', () => {
  const index = new SecretIndex();
  index.add('secret');
  index.add('secret');
  index.remove('secret');
  expect(index.mask('a secret!')).toBe('a ***!');
  index.remove('secret');
  expect(index.mask('a secret!')).toBe('a secret!');
});

test('the number of comparisons does not grow with texts that share their beginnings and ends', () => {
  const index = new SecretIndex(32);
  const token = (i: number) => `eyJhbGciOiJSUzI1NiIs.${i.toString(36).repeat(8)}.c2lnbmF0dXJl`;
  for (let i = 0; i < 10_000; i++) index.add(token(i));
  expect(index.mask(`x ${token(0)} y ${token(9_999)} z`)).toBe('x *** y *** z');
  let compared = 0;
  const startsWith = String.prototype.startsWith;
  String.prototype.startsWith = function (...given) {
    compared++;
    return startsWith.apply(this, given);
  };
  try {
    const text = token(10_000).repeat(20);
    expect(index.mask(text)).toBe(text);
    expect(compared).toBeLessThan(32 * text.length);
  } finally {
    String.prototype.startsWith = startsWith;
  }
});
