import { expect, test } from 'vitest';
import { type Column, nextOrder, type Order, sortItems } from './sort-items.ts';

interface Item {
  readonly pod: string;
  readonly changes: number;
}
const items: readonly Item[] = [
  { pod: 'web-2', changes: 3 },
  { pod: 'web-10', changes: 7 },
  { pod: 'db-1', changes: 3 },
];
const columns: readonly Column<Item>[] = [
  { name: 'Pod', value: ({ pod }) => pod },
  { name: 'changes', value: ({ changes }) => changes },
];
const pods = (order: Order | undefined) => sortItems(items, columns, order).map(({ pod }) => pod);

test('names sort as people read them', () => {
  expect(pods({ column: 0, isDescending: false })).toEqual(['db-1', 'web-2', 'web-10']);
});

test('equal values keep the order of the answer', () => {
  expect(pods({ column: 1, isDescending: true })).toEqual(['web-10', 'web-2', 'db-1']);
  expect(pods({ column: 1, isDescending: false })).toEqual(['web-2', 'db-1', 'web-10']);
  expect(pods(undefined)).toEqual(['web-2', 'web-10', 'db-1']);
});

test('a column is sorted, then in reverse, then no longer; numbers begin with the largest', () => {
  const next = (column: number, order?: Order) => nextOrder(items, columns, column, order);
  expect(next(1)).toEqual({ column: 1, isDescending: true });
  expect(next(1, next(1))).toEqual({ column: 1, isDescending: false });
  expect(next(1, next(1, next(1)))).toBeUndefined();
  expect(next(0, next(1))).toEqual({ column: 0, isDescending: false });
});
