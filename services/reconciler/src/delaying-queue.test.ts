import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DelayingQueue } from './delaying-queue.ts';

test('keys are taken when they are due, the earliest first, and once', () => {
  const queue = new DelayingQueue();
  queue.set('b', 20);
  queue.set('a', 10);
  queue.set('c', 30);
  expect(queue.next()).toBe(10);
  expect(queue.take(20)).toEqual(['a', 'b']);
  expect(queue.take(20)).toEqual([]);
  expect(queue.next()).toBe(30);
});

test('a key can be moved and removed', () => {
  const queue = new DelayingQueue();
  queue.set('a', 10);
  queue.set('a', 40);
  queue.set('b', 20);
  queue.set('b', null);
  expect(queue.next()).toBe(40);
  expect(queue.take(39)).toEqual([]);
  expect(queue.take(40)).toEqual(['a']);
});

test('a key that moves often is taken once, at its last time', () => {
  const queue = new DelayingQueue();
  queue.set('a', 5);
  for (let at = 1; at <= 200; at++) queue.set('b', at);
  queue.set('c', 100);
  for (let at = 300; at >= 150; at--) queue.set('a', at);
  expect(queue.next()).toBe(100);
  expect(queue.take(149)).toEqual(['c']);
  expect(queue.take(199)).toEqual(['a']);
  expect(queue.take(1_000)).toEqual(['b']);
  expect(queue.next()).toBeUndefined();
});

test('it behaves like a map that is scanned', () => {
  const operation = fc.oneof(
    fc.record({ key: fc.constantFrom(...'abcdefgh'), at: fc.option(fc.nat(50)) }),
    fc.record({ now: fc.nat(50) }),
  );
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 200 }), (operations) => {
      const queue = new DelayingQueue();
      const model = new Map<string, number>();
      for (const step of operations) {
        if ('now' in step) {
          const due = [...model].filter(([, at]) => at <= step.now).map(([key]) => key);
          for (const key of due) model.delete(key);
          expect(queue.take(step.now).sort()).toEqual(due.sort());
        } else {
          queue.set(step.key, step.at);
          if (step.at === null) model.delete(step.key);
          else model.set(step.key, step.at);
        }
        expect(queue.next()).toBe(model.size === 0 ? undefined : Math.min(...model.values()));
      }
    }),
  );
});
