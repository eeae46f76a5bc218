import { expect, test } from 'vitest';
import { OrderedQueue } from './ordered-queue.ts';

function taken(queue: OrderedQueue<string>): string[] {
  const items: string[] = [];
  for (let item = queue.take(); item !== undefined; item = queue.take()) items.push(item);
  return items;
}

test('the lowest order comes first, of equal ones the first that came', () => {
  const queue = new OrderedQueue<string>();
  for (const [order, item] of [
    [5, 'a'],
    [1, 'b'],
    [5, 'c'],
    [0, 'd'],
    [1, 'e'],
    [9, 'f'],
  ] as const) {
    queue.add(order, item);
  }
  expect(queue.size).toBe(6);
  expect(taken(queue)).toEqual(['d', 'b', 'e', 'a', 'c', 'f']);
});

test('what is taken out before its turn does not come', () => {
  const queue = new OrderedQueue<string>();
  queue.add(1, 'a');
  const remove = queue.add(1, 'b');
  queue.add(1, 'c');
  remove();
  remove();
  expect(taken(queue)).toEqual(['a', 'c']);
});
