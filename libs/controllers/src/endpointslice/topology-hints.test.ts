import type { Endpoint, EndpointSlice } from '@sluice/model';
import { aSlice } from '@sluice/model/testing';
import { describe, expect, it } from 'vitest';
import { type Allocations, addHints, allocateToZones, givingAndReceivingZones } from './topology-hints.ts';

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

describe('zone allocations', () => {
  const topology = (zoneRatios: Record<string, number> | null) => ({ zoneRatios, nodesByZone: {} });

  describe('the share of each zone in the endpoints (F3)', () => {
    it('is in proportion to its CPU, at least what keeps its overload tolerable, at most what the others can spare', () => {
      const allocations = allocateToZones(topology({ a: 0.25, b: 0.75 }), 12);
      expect(allocations).toEqual(
        new Map([
          ['a', { desired: 3, minimum: 3, maximum: 4 }],
          ['b', { desired: 9, minimum: 8, maximum: 9 }],
        ]),
      );
    });

    it('is at least one endpoint', () => {
      const one = { desired: 1, minimum: 1, maximum: 1 };
      expect(allocateToZones(topology({ a: 0.5, b: 0.5 }), 2)).toEqual(new Map(['a', 'b'].map((zone) => [zone, one])));
      expect(allocateToZones(topology({ a: 0.1, b: 0.9 }), 2)).toBeTypeOf('string');
      expect(allocateToZones(topology({ a: 0.1, b: 0.9 }), 5)).toEqual(
        new Map([
          ['a', { desired: 1, minimum: 1, maximum: 1 }],
          ['b', { desired: 4.5, minimum: 4, maximum: 4 }],
        ]),
      );
    });

    it.each<[string, Parameters<typeof allocateToZones>]>([
      ['Insufficient Node information: allocatable CPU or zone not specified on one or more nodes', [null, 9]],
      [
        'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes',
        [topology(null), 9],
      ],
      ['Nodes only ready in one zone', [topology({ a: 1 }), 9]],
      ['Insufficient number of endpoints (1 endpoints, 2 zones)', [topology({ a: 0.5, b: 0.5 }), 1]],
      [
        'Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (3 endpoints, 2 zones)',
        [topology({ a: 0.5, b: 0.5 }), 3],
      ],
    ])('does not exist: %s (F4)', (reason, inputs) => {
      expect(allocateToZones(...inputs)).toBe(reason);
    });
  });

  describe('endpoints move from zones above their share to zones below (F7)', () => {
    const desired = (shares: Record<string, number>): Allocations =>
      new Map(Object.entries(shares).map(([zone, share]) => [zone, { desired: share, minimum: 0, maximum: 99 }]));
    const moves = (shares: Record<string, number>, counts: Record<string, number>) => {
      const { giving, receiving } = givingAndReceivingZones(desired(shares), new Map(Object.entries(counts)));
      return { giving: Object.fromEntries(giving), receiving: Object.fromEntries(receiving) };
    };
    const none = { giving: {}, receiving: {} };

    it('until each has its share', () => {
      expect(moves({ a: 2, b: 2 }, { a: 2, b: 2 })).toEqual(none);
      expect(moves({ a: 3, b: 2, c: 1 }, { a: 6 })).toEqual({ giving: { a: 3 }, receiving: { b: 2, c: 1 } });
      expect(moves({ a: 1, b: 2, c: 3 }, { a: 3, b: 3 })).toEqual({ giving: { a: 2, b: 1 }, receiving: { c: 3 } });
    });

    it('unless both would get less than half an endpoint closer, or neither a whole one', () => {
      expect(moves({ a: 2.5, b: 1.5 }, { a: 3, b: 1 })).toEqual(none);
      expect(moves({ a: 2, b: 1.5, c: 0.5 }, { a: 3, b: 1 })).toEqual({ giving: { a: 1 }, receiving: { b: 1 } });
      expect(moves({ a: 2.6, b: 1.4 }, { a: 4 })).toEqual({ giving: { a: 1 }, receiving: { b: 1 } });
      expect(moves({ a: 2, b: 0.4, c: 0.4, d: 0.2 }, { a: 3 })).toEqual(none);
      expect(moves({ a: 0.6, b: 0.6, c: 0.6, d: 1.2 }, { a: 1, b: 1, c: 1 })).toEqual(none);
      expect(moves({ a: 0.5, b: 0.5, c: 1 }, { a: 1, b: 1 })).toEqual({ giving: { a: 1 }, receiving: { c: 1 } });
    });

    it('ties are broken by the order of the zones', () => {
      expect(moves({ a: 1, b: 1, c: 1 }, { c: 3 }).receiving).toEqual({ a: 1, b: 1 });
      expect(Object.keys(moves({ a: 0, b: 0, c: 2 }, { a: 1, b: 1 }).giving)).toEqual(['a', 'b']);
      expect(moves({ a: 0.25, b: 0.25, c: 1.5 }, { a: 1, b: 1 })).toEqual({ giving: { a: 1 }, receiving: { c: 1 } });
    });
  });
});
