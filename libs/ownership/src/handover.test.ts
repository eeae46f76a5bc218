import { describe, expect, test } from 'vitest';
import { Handover } from './handover.ts';

const scopes = Array.from({ length: 10 }, (_, i) => `p/${i}`);
const held = (holder: string, of: readonly string[], started = true) => of.map((scope) => ({ scope, holder, started }));
const both = (leases: ReturnType<typeof held>) => ({ member: 'a', members: ['a', 'b'], leases });

describe('what is handed over', () => {
  test('ends a few at a time, the next ones as others have started with those', () => {
    const handover = new Handover(scopes.length, 100);
    expect(handover.next(scopes, both(held('a', scopes)), 0)).toEqual(scopes.slice(0, 4));
    const rest = scopes.slice(4);
    expect(handover.next(rest, both(held('a', rest)), 1)).toEqual([]);
    expect(handover.next(rest, both([...held('b', scopes.slice(0, 4), false), ...held('a', rest)]), 1)).toEqual([]);
    expect(handover.next(rest, both([...held('b', scopes.slice(0, 3)), ...held('a', rest)]), 2)).toEqual(
      scopes.slice(4, 7),
    );
  });

  test('is more at a time where there are many, so that it is over after sixteen rounds', () => {
    const many = Array.from({ length: 1000 }, (_, i) => `p/${i}`);
    const handover = new Handover(many.length, 100);
    let [left, rounds] = [many, 0];
    for (; left.length > 0; rounds++) {
      const ending = handover.next(left, both(held('b', many.slice(0, -left.length))), rounds);
      left = left.slice(ending.length);
    }
    expect(rounds).toBe(16);
  });

  test('and that nobody begins with does not hold up the rest for longer than the patience', () => {
    const handover = new Handover(scopes.length, 100);
    handover.next(scopes, both([]), 0);
    expect(handover.next(scopes.slice(4), both([]), 99)).toEqual([]);
    expect(handover.next(scopes.slice(4), both([]), 100)).toEqual(scopes.slice(4, 8));
  });

  test('ends at once when there is nobody to take it', () => {
    expect(
      new Handover(scopes.length, 100).next(scopes, { member: 'a', members: [], leases: held('a', scopes) }, 0),
    ).toEqual(scopes);
  });
});
