import { describe, expect, test } from 'vitest';
import { Handover, leasesToReceive } from './handover.ts';

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
    const many = Array.from({ length: 1000 }, (_, i) => `p/${1000 + i}`);
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

describe('a hand-over to members that prepare', () => {
  const group = (prepared: readonly string[], leases = held('a', scopes)) => ({
    ...both(leases),
    isPrepared: (scope: string) => prepared.includes(scope),
  });

  test('releases scopes in transfer once the next member is prepared', () => {
    const handover = new Handover(100);
    expect(handover.next(scopes, group([]), 0)).toEqual([]);
    // The last one is not in transfer yet.
    expect(handover.next(scopes, group(['p/1', 'p/9']), 1)).toEqual(['p/1']);
    const remaining = scopes.filter((scope) => scope !== 'p/1');
    const leases = [...held('b', ['p/1']), ...held('a', remaining)];
    expect(handover.next(remaining, group(['p/4', 'p/5'], leases), 2)).toEqual(['p/4']);
  });

  test('releases them after the timeout at the latest, and continues with the next ones', () => {
    const handover = new Handover(100);
    handover.next(scopes, group([]), 0);
    expect(handover.next(scopes, group([]), 99)).toEqual([]);
    expect(handover.next(scopes, group([]), 100)).toEqual(scopes.slice(0, 4));
    expect(handover.next(scopes.slice(4), group(['p/4']), 101)).toEqual(['p/4']);
  });

  test('does not count what stays after all', () => {
    const handover = new Handover(100);
    handover.next(scopes, group([]), 0);
    expect(handover.next(scopes.slice(4), group(scopes), 1)).toEqual(scopes.slice(4, 8));
  });
});

describe('leases to receive', () => {
  const leases = held('a', scopes.toReversed()).map((lease) => ({ ...lease, fencingToken: 1 }));
  const receivedBy = (member: string, target: ReadonlyMap<string, string>) =>
    leasesToReceive(leases, target, member).map(({ scope }) => scope);

  test('are those that a holder releases next', () => {
    const target = new Map(scopes.map((scope, i) => [scope, i % 2 === 0 ? 'b' : 'c']));
    expect([receivedBy('b', target), receivedBy('c', target)]).toEqual([
      ['p/0', 'p/2'],
      ['p/1', 'p/3'],
    ]);
    const next = new Handover(100).next(scopes.toReversed(), { ...both(leases), isWanted }, 0);
    expect([...receivedBy('b', target), ...receivedBy('c', target)].sort()).toEqual(next);
  });

  test('are none that stay with their holder', () => {
    const target = new Map([...scopes.map((scope) => [scope, 'a'] as const), ['p/9', 'b']]);
    expect([receivedBy('b', target), receivedBy('a', target)]).toEqual([['p/9'], []]);
  });
});
