import { expect, test } from 'vitest';
import { Coverage } from './coverage.ts';
import { branchesIn, instrument, reachableBranches } from './reachable.ts';

const source = `function f(a) {
  if (a) {
    // Reachable: a is true
    return 1;
  }
  return 2;
}`;

test('finds branches by their comments, and calls the recorder in their place', () => {
  expect(branchesIn(source)).toEqual(['a is true']);
  expect(instrument(source).split('\n')[2]).toBe('    globalThis.__simulationReached?.("a is true");');
  expect(instrument(source).split('\n').length).toBe(source.split('\n').length);
});

test('branches of production code have names of their own', () => {
  const names = reachableBranches();
  expect(names.length).toBeGreaterThan(40);
  expect(names).toEqual([...new Set(names)]);
});

test('names what no seed has reached', () => {
  const coverage = new Coverage(['a', 'b', 'c']);
  coverage.add(['a', 'b']);
  coverage.add(['b']);
  expect(coverage.missed).toEqual(['c']);
  expect(coverage.summary).toBe('2 of 3 rare branches reached; by the fewest seeds: a (1), b (2)');
});
