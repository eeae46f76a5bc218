import { expect, test } from 'vitest';
import type { RecentChange } from '../../src/view/schemas.ts';
import { mergeChanges } from './merge-changes.ts';

const change = (at: number, name = 'cart', controller = 'endpointslice'): RecentChange => ({
  ...{ cluster: 'uid', clusterName: 'west', namespace: 'shop', name, at, controller, status: 'applied' },
  ...{ latencyMs: 3, added: 0, removed: 0, changed: 1, causes: [] },
});

test('lists each write once, newest first, also those that arrive late', () => {
  const loaded = [change(3), change(2), change(1)];
  const streamed = [change(4), change(3), change(3, 'web'), change(3, 'cart', 'endpoints'), change(2.5)];
  const merged = mergeChanges(streamed, loaded, 60);
  expect(merged.map(({ at }) => at)).toEqual([4, 3, 3, 3, 2.5, 2, 1]);
  expect(new Set(merged).size).toBe(7);
  expect(mergeChanges(merged, merged, 2).map(({ at }) => at)).toEqual([4, 3]);
});
