import { expect, test } from 'vitest';
import { YieldQueue } from './yield-queue.ts';

test('one turn is given each time, in the order in which they were asked for', async () => {
  const deferred: (() => void)[] = [];
  const turns = new YieldQueue((callback) => deferred.push(callback));
  const taken: string[] = [];
  const task = async (name: string) => {
    for (const turn of [1, 2]) {
      await turns.next();
      taken.push(`${name}${turn}`);
    }
  };
  const all = Promise.all([task('a'), task('b')]);
  const given: string[][] = [];
  while (deferred.length > 0) {
    expect(deferred).toHaveLength(1);
    deferred.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
    given.push(taken.splice(0));
  }
  await all;
  expect(given).toEqual([['a1'], ['b1'], ['a2'], ['b2']]);
});
