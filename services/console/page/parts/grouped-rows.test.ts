import { expect, test } from 'vitest';
import { groupedRows } from './grouped-rows.ts';

const [shop, pay] = [
  { name: 'shop', total: 2 },
  { name: 'pay', total: 1 },
];
const all = (count: number) => Array.from({ length: count }, (_, i) => i);

test('each group has a heading above its items', () => {
  const rows = groupedRows(3, [shop, pay]);
  expect(all(rows.count).map(rows.at)).toEqual([shop, 0, 1, pay, 2]);
  expect(all(6).map(rows.itemsAbove)).toEqual([0, 0, 1, 2, 2, 3]);
  expect([-1, 0, 1, 2].map(rows.rowOf)).toEqual([-1, 1, 2, 4]);
});

test('without groups rows are items', () => {
  const rows = groupedRows(2, []);
  expect(all(rows.count).map(rows.at)).toEqual([0, 1]);
  expect([-1, 0, 1].map(rows.rowOf)).toEqual([-1, 0, 1]);
});
