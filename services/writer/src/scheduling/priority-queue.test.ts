import { expect, test } from 'vitest';
import { PriorityQueue } from './priority-queue.ts';

function taken(queue: PriorityQueue<string>): string[] {
  const items: string[] = [];
  for (let item = queue.take(); item !== undefined; item = queue.take()) items.push(item);
  return items;
}

test('takes the lowest priority first, and equal ones in order of arrival', () => {
  const queue = new PriorityQueue<string>();
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

test('a removed item is not taken', () => {
  const queue = new PriorityQueue<string>();
  queue.add(1, 'a');
  const remove = queue.add(1, 'b');
  queue.add(1, 'c');
  remove();
  remove();
  expect(taken(queue)).toEqual(['a', 'c']);
});
