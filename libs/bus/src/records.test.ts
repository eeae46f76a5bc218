import { expect, test } from 'vitest';
import { recordId } from './records.ts';

test('joins the parts of an id', () => {
  expect(recordId('c/shop/web', 'endpointslice', 3, 17)).toBe('c/shop/web/endpointslice/3/17');
});

test('every name that Kubernetes accepts stays readable', () => {
  const key = [`${'u'.repeat(128)}`, 'n'.repeat(63), 's'.repeat(253)].join('/');
  expect(recordId(key, 'endpoints', Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)).toContain(key);
});

test.each([
  ['too long', 'x'.repeat(100_000)],
  ['with a line break', 'a\r\nSluice-Key: forged'],
  ['with a space', 'a b'],
  ['with a control character', '\u0000'],
  ['outside ASCII', 'ü'],
])('an id %s becomes a hash, the same each time', (_, part) => {
  const id = recordId(part, 1);
  expect(id).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(recordId(part, 1)).toBe(id);
  expect(recordId(part, 2)).not.toBe(id);
});
