import { describe, expect, test } from 'vitest';
import { assign } from './assign.ts';

const scopes = Array.from({ length: 64 }, (_, i) => `partition/${i}`);
const members = (count: number) => Array.from({ length: count }, (_, i) => `worker-${i}`);
const load = (assigned: ReadonlyMap<string, string>) =>
  [...Map.groupBy(assigned.values(), (member) => member).values()].map((of) => of.length);

describe('assign', () => {
  test('gives every scope to somebody, and nobody more than the fair share, rounded up', () => {
    for (let count = 1; count <= 70; count++) {
      const assigned = assign(members(count), scopes);
      expect(assigned.size).toBe(64);
      expect(Math.max(...load(assigned))).toBeLessThanOrEqual(Math.ceil(64 / count));
    }
  });

  test('does not depend on the order in which the group is told', () => {
    const [forward, backward] = [assign(members(7), scopes), assign(members(7).reverse(), [...scopes].reverse())];
    expect(new Map([...backward].sort())).toEqual(new Map([...forward].sort()));
  });

  test('moves little when a member comes', () => {
    for (let count = 2; count < 12; count++) {
      const before = assign(members(count), scopes);
      const after = assign(members(count + 1), scopes);
      const moved = scopes.filter((scope) => before.get(scope) !== after.get(scope));
      // What must move is the newcomer's share; the cap makes others follow.
      expect(moved.length).toBeLessThanOrEqual(2.5 * Math.ceil(64 / (count + 1)));
    }
  });

  test('without members gives nothing to nobody', () => {
    expect(assign([], scopes).size).toBe(0);
  });
});
