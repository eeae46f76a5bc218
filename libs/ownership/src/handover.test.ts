import { describe, expect, test } from 'vitest';
import { Handover } from './handover.ts';

const scopes = Array.from({ length: 10 }, (_, i) => `p/${i}`);
const held = (holder: string, of: readonly string[], started = true) => of.map((scope) => ({ scope, holder, started }));
const isWanted = () => true;
const both = (leases: ReturnType<typeof held>, count = scopes.length) => ({
  ...{ member: 'a', scopes: count, leases, isWanted },
});

describe('a hand-over', () => {
  test('releases a few scopes at a time, and the next ones once other members have started those', () => {
    const handover = new Handover(100);
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
    const handover = new Handover(100);
    let [remaining, rounds] = [many, 0];
    for (; remaining.length > 0; rounds++) {
      const released = handover.next(remaining, both(held('b', many.slice(0, -remaining.length)), 1000), rounds);
      remaining = remaining.slice(released.length);
    }
    expect(rounds).toBe(16);
  });

  test('continues after the timeout when nobody starts the released scopes', () => {
    const handover = new Handover(100);
    handover.next(scopes, both([]), 0);
    expect(handover.next(scopes.slice(4), both([]), 99)).toEqual([]);
    expect(handover.next(scopes.slice(4), both([]), 100)).toEqual(scopes.slice(4, 8));
  });

  test('releases at once what nobody takes over', () => {
    const group = { ...both(held('a', scopes)), isWanted: (scope: string) => scope > 'p/5' };
    expect(new Handover(100).next(scopes, group, 0)).toEqual(scopes);
    const nobody = { ...both(held('a', scopes)), isWanted: () => false };
    expect(new Handover(100).next(scopes, nobody, 0)).toEqual(scopes);
  });
});
