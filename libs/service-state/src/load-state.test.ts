import { expect, test } from 'vitest';
import { loadState } from './load-state.ts';

const key = 'c/shop/web';

test.each([
  ['without ratios, as Nodes without enough information give it', null],
  ['with ratios', { a: 0.5, b: 0.5 }],
])('loads a topology %s', (_, zoneRatios) => {
  const value = { zoneRatios, nodesByZone: { a: 1, b: 1 } };
  expect(loadState(key, [{ key, field: 'topology', value }]).topology).toEqual(value);
});

test('names the part of a field that is invalid', () => {
  const value = { zoneRatios: { a: 'half' }, nodesByZone: {} };
  expect(() => loadState(key, [{ key, field: 'topology', value }])).toThrow(
    'stored field topology: zoneRatios.a is invalid',
  );
});
