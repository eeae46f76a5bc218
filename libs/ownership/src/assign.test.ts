import { describe, expect, test } from 'vitest';
import { assign } from './assign.ts';

const scopes = Array.from({ length: 64 }, (_, i) => `partition/${i}`);
const members = (count: number) => Array.from({ length: count }, (_, i) => `worker-${i}`);
const load = (assigned: ReadonlyMap<string, string>) =>
  [...Map.groupBy(assigned.values(), (member) => member).values()].map((scopes) => scopes.length);

const leasesOf = (assigned: ReadonlyMap<string, string>) => [...assigned].map(([scope, holder]) => ({ scope, holder }));

describe('assign', () => {
  test('assigns every scope and gives no member more than the fair share, rounded up', () => {
    for (let count = 1; count <= 70; count++) {
      const assigned = assign(members(count), scopes);
      expect(assigned.size).toBe(64);
      expect(Math.max(...load(assigned))).toBeLessThanOrEqual(Math.ceil(64 / count));
    }
  });

  test('does not depend on the order of members and scopes', () => {
    const [forward, backward] = [assign(members(7), scopes), assign(members(7).reverse(), [...scopes].reverse())];
    expect(new Map([...backward].sort())).toEqual(new Map([...forward].sort()));
  });

  test('moves only scopes above the fair share when a member joins, and only its own scopes when a member leaves', () => {
    for (let count = 2; count < 12; count++) {
      const before = assign(members(count), scopes);
      const after = assign(members(count + 1), scopes, leasesOf(before));
      const moved = scopes.filter((scope) => before.get(scope) !== after.get(scope));
      const cap = Math.ceil(64 / (count + 1));
      expect(moved).toHaveLength(load(before).reduce((sum, count) => sum + Math.max(0, count - cap), 0));
      expect(Math.max(...load(after))).toBeLessThanOrEqual(cap);
      const fewer = assign(members(count), scopes, leasesOf(after));
      for (const [scope, member] of after) if (member !== `worker-${count}`) expect(fewer.get(scope)).toBe(member);
      expect(Math.max(...load(fewer))).toBeLessThanOrEqual(Math.ceil(64 / count));
    }
  });

  test('stays the same while free scopes are being acquired', () => {
    const before = leasesOf(assign(members(3), scopes)).filter(({ holder }) => holder !== 'worker-2');
    const target = assign(members(2), scopes, before);
    const leases = [...before];
    for (const [scope, holder] of target) {
      if (!leases.some((lease) => lease.scope === scope)) leases.push({ scope, holder });
      expect(assign(members(2), scopes, leases)).toEqual(target);
    }
  });

  test('leaves a single scope with its holder', () => {
    expect(assign(members(9), ['cluster'], [{ scope: 'cluster', holder: 'worker-3' }]).get('cluster')).toBe('worker-3');
  });

  test('assigns nothing without members', () => {
    expect(assign([], scopes).size).toBe(0);
  });
});
