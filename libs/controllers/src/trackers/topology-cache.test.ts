import type { Node } from '@sluice/model';
import { describe, expect, it } from 'vitest';
import { isOverloaded, nodeTopology, removeHints, setHints } from './topology-cache.ts';

const node = (zone: string, given: Partial<Node> = {}): Node => ({
  name: 'n',
  zone,
  ready: true,
  controlPlane: false,
  allocatableMilliCpu: 1000,
  ...given,
});

describe('nodeTopology (F2)', () => {
  it('divides the CPU of ready workers', () => {
    const nodes = [node('a'), node('b'), node('b', { allocatableMilliCpu: 2000 }), node('c', { ready: false })];
    const topology = nodeTopology([...nodes, node('', { controlPlane: true })]);
    expect(topology).toEqual({ zoneRatios: { a: 0.25, b: 0.75 }, nodesByZone: { a: 1, b: 2 } });
  });

  it('is in the order of zones, whatever the order of Nodes, and counts those without a zone', () => {
    const { zoneRatios, nodesByZone } = nodeTopology([node('c'), node('a'), node('b'), node('a')]);
    expect(Object.entries(zoneRatios ?? {})).toEqual([
      ['a', 0.5],
      ['b', 0.25],
      ['c', 0.25],
    ]);
    expect(Object.entries(nodesByZone)).toEqual([
      ['a', 2],
      ['b', 1],
      ['c', 1],
    ]);
    expect(nodeTopology([node(''), node('a')]).nodesByZone).toEqual({ '': 1, a: 1 });
  });

  it.each([
    ['no node', []],
    ['one zone', [node('a'), node('a')]],
    ['a node without zone', [node('a'), node('b'), node('')]],
    ['a node without CPU', [node('a'), node('b'), node('b', { allocatableMilliCpu: 0 })]],
  ])('has no ratios with %s', (_, nodes) => {
    expect(nodeTopology(nodes).zoneRatios).toBeNull();
  });
});

describe('hints of a Service', () => {
  const even = nodeTopology([node('a'), node('b')]);

  it('lose the mark with any address type (F12), and disappear with the last one', () => {
    const both = setHints(setHints(null, 'IPv4', { a: 1 }), 'IPv6', { b: 1 });
    const one = removeHints(both, 'IPv4');
    expect(one).toEqual({ populated: false, byAddressType: { IPv6: { b: 1 } } });
    expect(removeHints(one, 'IPv6')).toBeNull();
    expect(removeHints(null, 'IPv4')).toBeNull();
  });

  it.each([
    ['no hints', null, even, false],
    ['an even spread', { a: 5, b: 5 }, even, false],
    ['a spread within the threshold', { a: 6, b: 5 }, even, false],
    ['a spread at the threshold', { a: 7, b: 5 }, even, false],
    ['a spread beyond the threshold', { a: 8, b: 4 }, even, true],
    ['a zone with too few', { a: 9, b: 3 }, even, true],
    ['no hinted zone', {}, even, false],
    ['no hinted zone and unknown Nodes', {}, null, false],
    ['a zone without any', { a: 9 }, even, true],
    ['unknown Nodes', { a: 5, b: 5 }, null, true],
  ])('are overloaded with %s (F14)', (_, counts, topology, overloaded) => {
    expect(isOverloaded(counts === null ? null : setHints(null, 'IPv4', counts), topology)).toBe(overloaded);
  });

  it('are set per address type', () => {
    const four = setHints(null, 'IPv4', { a: 1 });
    expect(four).toEqual({ populated: true, byAddressType: { IPv4: { a: 1 } } });
    const both = setHints({ ...four, populated: false }, 'IPv6', { b: 2 });
    expect(both).toEqual({ populated: true, byAddressType: { IPv4: { a: 1 }, IPv6: { b: 2 } } });
    expect(setHints(both, 'IPv4', { b: 3 }).byAddressType).toEqual({ IPv4: { b: 3 }, IPv6: { b: 2 } });
  });

  it('are overloaded if those of one address type are', () => {
    const balanced = setHints(null, 'IPv4', { a: 5, b: 5 });
    expect(isOverloaded(setHints(balanced, 'IPv6', { a: 9, b: 1 }), even)).toBe(true);
    expect(isOverloaded(setHints(balanced, 'IPv6', { a: 5, b: 5 }), even)).toBe(false);
  });
});
