import { describe, expect, it } from 'vitest';
import type { Node } from '../objects/node.ts';
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
    ['a zone with too few', { a: 9, b: 3 }, even, true],
    ['a zone without any', { a: 9 }, even, true],
    ['unknown Nodes', { a: 5, b: 5 }, null, true],
  ])('are overloaded with %s (F14)', (_, counts, topology, overloaded) => {
    expect(isOverloaded(counts === null ? null : setHints(null, 'IPv4', counts), topology)).toBe(overloaded);
  });
});
