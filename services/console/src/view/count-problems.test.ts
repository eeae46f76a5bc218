import { expect, test } from 'vitest';
import { countProblems } from './count-problems.ts';

const problem = (cluster: string, from: number, to: number | null, severity: 'critical' | 'warning' | 'info') => ({
  ...{ cluster, clusterName: `name of ${cluster}`, from, to, severity },
});
const buckets = { since: 1_000, until: 1_400, stepMs: 100 };

test('a problem counts in each bucket that it overlaps, until now if it continues', () => {
  const problems = [
    problem('a', 900, 1_150, 'critical'),
    problem('a', 1_120, 1_180, 'warning'),
    problem('a', 1_310, null, 'warning'),
  ];
  expect(countProblems(problems, [], buckets)).toEqual([
    {
      ...{ cluster: 'a', clusterName: 'name of a' },
      cells: [
        { at: 1_000, critical: 1, warning: 0, info: 0 },
        { at: 1_100, critical: 1, warning: 1, info: 0 },
        { at: 1_300, critical: 0, warning: 1, info: 0 },
      ],
    },
  ]);
});

test('clusters with the most severe problems come first, and those without any last', () => {
  const problems = [
    problem('info', 1_000, null, 'info'),
    problem('warning', 1_000, 1_050, 'warning'),
    problem('long', 1_000, 1_250, 'critical'),
    problem('short', 1_000, 1_050, 'critical'),
  ];
  const clusters = ['quiet', 'short'].map((cluster) => ({ cluster, clusterName: `name of ${cluster}` }));
  const found = countProblems(problems, clusters, buckets);
  expect(found.map(({ cluster }) => cluster)).toEqual(['long', 'short', 'warning', 'info', 'quiet']);
  expect(found.at(-1)?.cells).toEqual([]);
});
