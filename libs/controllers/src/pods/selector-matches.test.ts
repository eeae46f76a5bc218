import type { StringMap } from '@sluice/model';
import { expect, it } from 'vitest';
import { selectorMatches } from './selector-matches.ts';

it.each<[StringMap | null, StringMap, boolean]>([
  [null, {}, false],
  [null, { app: 'web' }, false],
  [{}, {}, true],
  [{}, { app: 'web' }, true],
  [{ app: 'web' }, { app: 'web', tier: 'front' }, true],
  [{ app: 'web' }, { app: 'db' }, false],
  [{ app: 'web' }, {}, false],
  [{ app: 'web', tier: 'front' }, { app: 'web' }, false],
])('the selector %j matches the labels %j: %s (C9)', (selector, labels, matches) => {
  expect(selectorMatches(selector, labels)).toBe(matches);
});
