import { expect, test } from 'vitest';
import { YieldQueue } from './yield-queue.ts';

test('one caller resumes per deferred callback, in the order of the calls', async () => {
  const deferred: (() => void)[] = [];
  const queue = new YieldQueue((callback) => deferred.push(callback));
  const resumed: string[] = [];
  const task = async (name: string) => {
    for (const step of [1, 2]) {
      await queue.next();
      resumed.push(`${name}${step}`);
    }
  };
  const all = Promise.all([task('a'), task('b')]);
  const rounds: string[][] = [];
  while (deferred.length > 0) {
    expect(deferred).toHaveLength(1);
    deferred.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
    rounds.push(resumed.splice(0));
  }
  await all;
  expect(rounds).toEqual([['a1'], ['b1'], ['a2'], ['b2']]);
});
