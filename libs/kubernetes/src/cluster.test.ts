import { expect, test } from 'vitest';
import { includesNamespace, type NamespaceScope } from './cluster.ts';

test.each<[NamespaceScope | undefined, readonly string[]]>([
  [undefined, ['', 'a', 'b', 'c']],
  [{}, ['', 'a', 'b', 'c']],
  [{ only: ['a', 'b'] }, ['', 'a', 'b']],
  [{ except: ['a', 'b'] }, ['', 'c']],
  [{ only: ['a', 'b'], except: ['b'] }, ['', 'a']],
  [{ only: [] }, ['']],
])('%j includes %j; an object without a namespace always belongs to it', (scope, expected) => {
  expect(['', 'a', 'b', 'c'].filter((namespace) => includesNamespace(scope, namespace))).toEqual(expected);
});
