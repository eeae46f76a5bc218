import { expect, test } from 'vitest';
import { ScopeFormat } from './scope-format.ts';

const entry = { key: 'c/shop/web', field: 'service', value: 1 };

test('the version is stored with the first entries of a scope and read back', () => {
  const first = new ScopeFormat(3);
  expect(first.read([])).toEqual([]);
  expect(first.mark([])).toEqual([]);
  const stored = first.mark([entry]);
  expect(stored).toHaveLength(2);
  expect(first.mark([entry])).toEqual([entry]);
  const second = new ScopeFormat(3);
  expect(second.read(stored)).toEqual([entry]);
  expect(second.mark([entry])).toEqual([entry]);
});

test.each([
  ['an older program', new ScopeFormat(2).mark([entry])],
  ['a newer program', new ScopeFormat(4).mark([entry])],
  ['a program without versions', [entry]],
])('what %s has stored is unreadable, and the version replaces its own', (_, stored) => {
  const format = new ScopeFormat(3);
  expect(format.read(stored)).toBeUndefined();
  expect(new ScopeFormat(3).read(format.mark([entry]))).toEqual([entry]);
});
