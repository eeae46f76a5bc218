import type { Endpoint, EndpointSlice } from '@sluice/model';
import { aSlice } from '@sluice/model/testing';
import { describe, expect, it } from 'vitest';
import { addHints } from './topology-hints.ts';

/** Two zones with the same share: of ten endpoints, each is to have five. */
const topology = { zoneRatios: { a: 0.5, b: 0.5 }, nodesByZone: { a: 1, b: 1 } };

/** Ready endpoints, each as the zone it is in and the zone it is hinted for: `ab` is in `a`, hinted for `b`. */
const slice = (name: string, ...zones: string[]): EndpointSlice =>
  aSlice(name, {
    endpoints: zones.map(
      ([zone = '', hint], i): Endpoint => ({
        ...{ addresses: [`10.0.0.${i}`], conditions: { ready: true }, zone },
        ...(hint !== undefined && { hints: { forZones: [{ name: hint }] } }),
      }),
    ),
  });

const hintsOf = (slices: readonly EndpointSlice[]) =>
  slices.map(({ metadata, endpoints }) => {
    const hints = endpoints?.map((one) => (one.hints?.forZones ?? []).map(({ name }) => name).join('+'));
    return `${metadata.name}:${hints?.join('')}`;
  });

function decide(unchanged: readonly EndpointSlice[], toCreate: readonly EndpointSlice[] = []) {
  const { lists, hints } = addHints({ toCreate, toUpdate: [], unchanged }, 'IPv4', topology, null);
  const { toUpdate } = lists;
  return {
    ...{ create: hintsOf(lists.toCreate), update: hintsOf(toUpdate), unchanged: hintsOf(lists.unchanged) },
    counts: hints?.byAddressType.IPv4,
  };
}

describe('an unchanged slice (F5)', () => {
  it('keeps hints that fit, also those for another zone', () => {
    const even = slice('s', 'aa', 'ab', 'aa', 'bb');
    expect(decide([even])).toEqual({ create: [], update: [], unchanged: ['s:abab'], counts: { a: 2, b: 2 } });
  });

  it.each([
    ['an endpoint has no hint', ['aa', 'a', 'bb', 'bb']],
    ['an endpoint is hinted for a zone that has no Nodes', ['aa', 'ac', 'bb', 'bb']],
    ['a zone has too many', ['aa', 'ba', 'ba', 'bb']],
  ])('gets other hints if %s', (_, zones) => {
    const { update, unchanged, counts } = decide([slice('s', ...zones)]);
    expect([update.length, unchanged, counts]).toEqual([1, [], { a: 2, b: 2 }]);
  });

  it('gets other hints if a zone has too many together with the slices before it', () => {
    const slices = (t: string) => [slice('s', 'aa', 'aa', 'aa'), slice('t', 'aa', 'aa', t), slice('u', ...four)];
    const four = ['bb', 'bb', 'bb', 'bb'];
    expect(decide(slices('bb'))).toMatchObject({ update: [], unchanged: ['s:aaa', 't:aab', 'u:bbbb'] });
    const { update, unchanged, counts } = decide(slices('aa'));
    expect([update, unchanged, counts]).toEqual([['t:baa'], ['s:aaa', 'u:bbbb'], { a: 5, b: 5 }]);
  });
});

it('endpoints of a zone with too many are hinted for one with too few, as many as it lacks (F6, F8)', () => {
  const { create, counts } = decide([], [slice('s', 'a', 'a', 'a', 'a', 'a', 'b')]);
  expect([...(create[0] ?? '')].filter((zone) => zone === 'b').length).toBe(3);
  expect(counts).toEqual({ a: 3, b: 3 });
});

it('endpoints that are not ready get no hint and count for nothing', () => {
  const created = slice('s', 'a', 'b');
  const unready = { addresses: ['10.0.0.9'], conditions: { ready: false }, zone: 'a' };
  const { create, counts } = decide([], [{ ...created, endpoints: [...(created.endpoints ?? []), unready] }]);
  expect([create, counts]).toEqual([['s:ab'], { a: 1, b: 1 }]);
});
