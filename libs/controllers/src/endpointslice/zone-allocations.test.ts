import { describe, expect, it } from 'vitest';
import { type Allocations, allocateToZones, givingAndReceivingZones } from './zone-allocations.ts';

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
    ['Insufficient Node information: allocatable CPU or zone not specified on one or more nodes', [topology(null), 9]],
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
