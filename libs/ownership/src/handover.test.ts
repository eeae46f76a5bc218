import { describe, expect, test } from 'vitest';
import { Handover } from './handover.ts';

const scopes = Array.from({ length: 10 }, (_, i) => `p/${i}`);
const held = (holder: string, of: readonly string[], started = true) => of.map((scope) => ({ scope, holder, started }));
const both = (leases: ReturnType<typeof held>) => ({ member: 'a', members: ['a', 'b'], leases });

describe('a hand-over', () => {
  test('releases a few scopes at a time, and the next ones once other members have started those', () => {
    const handover = new Handover(scopes.length, 100);
    expect(handover.next(scopes, both(held('a', scopes)), 0)).toEqual(scopes.slice(0, 4));
    const remaining = scopes.slice(4);
    expect(handover.next(remaining, both(held('a', remaining)), 1)).toEqual([]);
    expect(
      handover.next(remaining, both([...held('b', scopes.slice(0, 4), false), ...held('a', remaining)]), 1),
    ).toEqual([]);
    expect(handover.next(remaining, both([...held('b', scopes.slice(0, 3)), ...held('a', remaining)]), 2)).toEqual(
      scopes.slice(4, 7),
    );
  });

  test('takes sixteen rounds however many scopes there are', () => {
    const many = Array.from({ length: 1000 }, (_, i) => `p/${i}`);
    const handover = new Handover(many.length, 100);
    let [remaining, rounds] = [many, 0];
    for (; remaining.length > 0; rounds++) {
      const released = handover.next(remaining, both(held('b', many.slice(0, -remaining.length))), rounds);
      remaining = remaining.slice(released.length);
    }
    expect(rounds).toBe(16);
  });

  test('continues after the timeout when nobody starts the released scopes', () => {
    const handover = new Handover(scopes.length, 100);
    handover.next(scopes, both([]), 0);
    expect(handover.next(scopes.slice(4), both([]), 99)).toEqual([]);
    expect(handover.next(scopes.slice(4), both([]), 100)).toEqual(scopes.slice(4, 8));
  });

  test('releases everything at once when the group has no other member', () => {
    expect(
      new Handover(scopes.length, 100).next(scopes, { member: 'a', members: [], leases: held('a', scopes) }, 0),
    ).toEqual(scopes);
  });
});
