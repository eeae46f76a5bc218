import { expect, test } from 'vitest';
import { Metrics } from './metrics.ts';

test('exposes the problems of the store by kind, and those that are resolved as 0', async () => {
  const counts = new Map([
    ['eviction', 2],
    ['persistence', 0],
  ]);
  const metrics = new Metrics({ clusters: new Map(), process: false, storeProblems: () => counts });
  expect(await metrics.text()).toContain('sluice_store_problems{kind="eviction"} 2');
  counts.set('eviction', 0);
  const text = await metrics.text();
  expect(text).toContain('sluice_store_problems{kind="eviction"} 0');
  expect(text).toContain('sluice_store_problems{kind="persistence"} 0');
});
