import type { GroupState } from '@sluice/store';
import { describe, expect, test } from 'vitest';
import { scopesToInherit } from './scopes-to-inherit.ts';

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
    const state = group(['a', 'b', 'c'], [...holding('a', '0', '1'), ...holding('b', '2'), ...holding('c', '3')], 100);
    const [b, c] = [inheritedBy('b', state), inheritedBy('c', state)];
    expect([...b, ...c].sort()).toEqual(['0', '1']);
    expect(b).toHaveLength(1);
  });

  test('are none while the late member holds nothing, or nobody else is in the group', () => {
    expect(inheritedBy('b', group(['a', 'b'], holding('b', ...scopes), 100))).toEqual([]);
    expect(inheritedBy('b', { members: ['b'], leases: [] })).toEqual([]);
  });
});
