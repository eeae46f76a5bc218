import { expect, test } from 'vitest';
import { listShares } from './partitions.ts';

test('lists who has each partition, and how far behind they are', () => {
  const writer = { owner: 'worker-b', epoch: 2, lag: 3 };
  const shares = [
    { partition: 0, owner: 'worker-a', epoch: 1, lag: 0, writer },
    { partition: 1, owner: '', epoch: 0, lag: null, writer: { ...writer, owner: '', lag: null } },
  ];
  const lines = listShares(shares, Number.POSITIVE_INFINITY).trimEnd().split('\n');
  expect(lines.map((line) => line.trim().split(/ {2,}/))).toEqual([
    ['PARTITION', 'RECONCILER', 'LAG', 'WRITER', 'LAG'],
    ['0', 'worker-a', '0', 'worker-b', '3'],
    ['1', 'nobody', 'unknown', 'nobody', 'unknown'],
  ]);
});
