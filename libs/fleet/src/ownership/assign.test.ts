import type { GroupState } from '@sluice/store';
import { describe, expect, test } from 'vitest';
import { assign, scopesToInherit } from './assign.ts';

const scopes = Array.from({ length: 64 }, (_, i) => `partition/${i}`);
const members = (count: number) => Array.from({ length: count }, (_, i) => `worker-${i}`);
const load = (assigned: ReadonlyMap<string, string>) =>
  [...Map.groupBy(assigned.values(), (member) => member).values()].map((scopes) => scopes.length);

const leasesOf = (assigned: ReadonlyMap<string, string>) => [...assigned].map(([scope, holder]) => ({ scope, holder }));

describe('assign', () => {
  test('assigns every scope and gives no member more than the fair share, rounded up', () => {
    for (let count = 1; count <= 70; count++) {
      const assigned = assign({ members: members(count) }, scopes);
      expect(assigned.size).toBe(64);
      expect(Math.max(...load(assigned))).toBeLessThanOrEqual(Math.ceil(64 / count));
    }
  });

  test('does not depend on the order of members and scopes', () => {
    const [forward, backward] = [
      assign({ members: members(7) }, scopes),
      assign({ members: members(7).reverse() }, [...scopes].reverse()),
    ];
    expect(new Map([...backward].sort())).toEqual(new Map([...forward].sort()));
  });

  test('moves only scopes above the fair share when a member joins, and only its own scopes when a member leaves', () => {
    for (let count = 2; count < 12; count++) {
      const before = assign({ members: members(count) }, scopes);
      const after = assign({ members: members(count + 1), leases: leasesOf(before) }, scopes);
      const moved = scopes.filter((scope) => before.get(scope) !== after.get(scope));
      const cap = Math.ceil(64 / (count + 1));
      expect(moved).toHaveLength(load(before).reduce((sum, count) => sum + Math.max(0, count - cap), 0));
      expect(Math.max(...load(after))).toBeLessThanOrEqual(cap);
      const fewer = assign({ members: members(count), leases: leasesOf(after) }, scopes);
      for (const [scope, member] of after) if (member !== `worker-${count}`) expect(fewer.get(scope)).toBe(member);
      expect(Math.max(...load(fewer))).toBeLessThanOrEqual(Math.ceil(64 / count));
    }
  });

  test('stays the same while free scopes are being acquired', () => {
    const before = leasesOf(assign({ members: members(3) }, scopes)).filter(({ holder }) => holder !== 'worker-2');
    const target = assign({ members: members(2), leases: before }, scopes);
    const leases = [...before];
    for (const [scope, holder] of target) {
      if (!leases.some((lease) => lease.scope === scope)) leases.push({ scope, holder });
      expect(assign({ members: members(2), leases }, scopes)).toEqual(target);
    }
  });

  test('leaves a single scope with its holder', () => {
    const leases = [{ scope: 'cluster', holder: 'worker-3' }];
    expect(assign({ members: members(9), leases }, ['cluster']).get('cluster')).toBe('worker-3');
  });

  test('assigns nothing without members', () => {
    expect(assign({ members: [] }, scopes).size).toBe(0);
  });

  describe('of members that serve different scopes', () => {
    const shared = scopes.slice(0, 40);
    const only = scopes.slice(40);
    const serves = new Map([
      ['a', scopes],
      ['b', shared],
    ]);

    test('gives each scope to a member that can serve it, and divides what both can', () => {
      const assigned = assign({ members: ['a', 'b'], serves }, []);
      expect(assigned.size).toBe(64);
      expect(only.every((scope) => assigned.get(scope) === 'a')).toBe(true);
      expect(shared.filter((scope) => assigned.get(scope) === 'a')).toHaveLength(20);
    });

    test('takes a scope from a member that cannot serve it any more', () => {
      const leases = scopes.map((scope) => ({ scope, holder: 'b' }));
      const assigned = assign({ members: ['a', 'b'], serves, leases }, []);
      expect(only.every((scope) => assigned.get(scope) === 'a')).toBe(true);
      expect(shared.filter((scope) => assigned.get(scope) === 'b')).toHaveLength(20);
    });

    test('assigns nothing that nobody can serve', () => {
      expect(assign({ members: ['b'], serves }, []).size).toBe(40);
      expect(assign({ members: ['b'], serves: new Map([['b', []]]) }, []).size).toBe(0);
    });
  });
});

describe('members that make no progress', () => {
  const scopes = ['0', '1', '2', '3', '4', '5'];
  const leases = scopes.map((scope, i) => ({ scope, holder: i % 2 === 0 ? 'a' : 'b' }));
  const of = (target: ReadonlyMap<string, string>, member: string) =>
    scopes.filter((scope) => target.get(scope) === member);

  test('get none of the scopes on which others can work, and keep their share of the rest', () => {
    const stalled = new Map([['a', ['0', '2']]]);
    const target = assign({ members: ['a', 'b'], leases, stalled }, scopes);
    expect(of(target, 'a')).not.toContain('0');
    expect(of(target, 'a')).not.toContain('2');
    expect(of(target, 'a')).toContain('4');
    expect(target.size).toBe(scopes.length);
  });

  test('get nothing for a reason that concerns all scopes', () => {
    const target = assign({ members: ['a', 'b', 'c'], leases, stalled: new Map([['a', ['*bus']]]) }, scopes);
    expect(of(target, 'a')).toEqual([]);
    expect([of(target, 'b').length, of(target, 'c').length]).toEqual([3, 3]);
  });

  test('keep what they hold while nobody can work, and lose it to those with fewer reasons', () => {
    const holders = new Map(leases.map(({ scope, holder }) => [scope, holder]));
    const everybody = new Map([
      ['a', ['*bus']],
      ['b', ['*bus']],
    ]);
    expect(assign({ members: ['a', 'b'], leases, stalled: everybody }, scopes)).toEqual(holders);
    const worse = new Map([...everybody, ['a', ['*bus', '*store']]]);
    expect(of(assign({ members: ['a', 'b'], leases, stalled: worse }, scopes), 'b')).toEqual(scopes);
  });
});

describe('scopes to inherit', () => {
  const scopes = ['0', '1', '2', '3'];
  const holding = (holder: string, ...held: string[]) =>
    held.map((scope) => ({ scope, holder, fencingToken: 1, started: true }));
  const group = (members: readonly string[], leases: GroupState['leases'], inMs: number): GroupState => ({
    ...{ members, leases },
    nextExpiry: { member: 'a', inMs },
  });
  const inheritedBy = (member: string, state: GroupState) => scopesToInherit(state, { member, scopes, ttlMs: 900 });

  describe('scopes to inherit', () => {
    test('are those of a member that has been silent for half its lease', () => {
      const of = (inMs: number) => inheritedBy('b', group(['a', 'b'], holding('a', '0', '1'), inMs));
      expect(of(451)).toEqual([]);
      expect(of(450)).toEqual(['0', '1']);
    });

    test('are divided among the members that remain', () => {
      const state = group(
        ['a', 'b', 'c'],
        [...holding('a', '0', '1'), ...holding('b', '2'), ...holding('c', '3')],
        100,
      );
      const [b, c] = [inheritedBy('b', state), inheritedBy('c', state)];
      expect([...b, ...c].sort()).toEqual(['0', '1']);
      expect(b).toHaveLength(1);
    });

    test('are none while the late member holds nothing, or nobody else is in the group', () => {
      expect(inheritedBy('b', group(['a', 'b'], holding('b', ...scopes), 100))).toEqual([]);
      expect(inheritedBy('b', { members: ['b'], leases: [] })).toEqual([]);
    });
  });
});
