import type { EndpointSubset } from '@sluice/model';
import { describe, expect, it } from 'vitest';
import { countAddresses, truncateSubsets } from './truncate.ts';

const list = (count: number) => Array.from({ length: count }, (_, i) => ({ ip: `10.0.${i >> 8}.${i & 255}` }));
const port = { port: 80 };
/** A subset with so many ready and other addresses; null for a list that is missing. */
const subset = (ready: number | null, notReady: number | null = null): EndpointSubset => ({
  ...(ready !== null && { addresses: list(ready) }),
  ...(notReady !== null && { notReadyAddresses: list(notReady) }),
  ports: [port],
});
type Numbers = readonly [number | null, (number | null)?];

/** Numbers of ready and other addresses that are left. */
function truncated(...numbers: readonly Numbers[]) {
  const { truncated: isTruncated, subsets } = truncateSubsets(numbers.map((one) => subset(...one)));
  for (const { ports } of subsets) expect(ports).toEqual([port]);
  expect(isTruncated).toBe(true);
  return subsets.map((one) => [one.addresses?.length, one.notReadyAddresses?.length]);
}

describe('the addresses of Endpoints (D27, D28)', () => {
  it.each<readonly Numbers[][]>([[[]], [[[1000]]], [[[null, 1000]]], [[[500], [499, 1]]]])(
    'are all kept if there are at most 1000: %j',
    (numbers) => {
      const subsets = numbers.map((one) => subset(...one));
      expect(truncateSubsets(subsets)).toEqual({ truncated: false, subsets });
      expect(truncateSubsets(subsets).subsets).toBe(subsets);
    },
  );

  it('are cut at 1000, those that are not ready first', () => {
    expect(truncated([600, 401])).toEqual([[600, 400]]);
    expect(truncated([1000, 1])).toEqual([[1000, 0]]);
    expect(truncated([1001, 5])).toEqual([[1000, undefined]]);
    expect(truncated([null, 1001])).toEqual([[undefined, 1000]]);
  });

  it('are cut in proportion over all subsets, rounded up until none is left', () => {
    expect(truncated([700], [700], [100])).toEqual([
      [467, undefined],
      [467, undefined],
      [66, undefined],
    ]);
    expect(truncated([400, 900], [null, 300], [100])).toEqual([
      [400, 375],
      [undefined, 125],
      [100, undefined],
    ]);
    expect(truncated([999], [999], [1])[2]).toEqual([0, undefined]);
  });

  it('that are kept are the first ones', () => {
    const { subsets } = truncateSubsets([subset(1100)]);
    expect(subsets[0]?.addresses).toEqual(list(1000));
  });

  it('count ready and not ready', () => {
    expect(countAddresses([subset(2, 3), subset(null, 4), subset(5), {}])).toBe(14);
  });
});
