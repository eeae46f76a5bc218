import { expect, it } from 'vitest';
import { WorkQueue } from './work-queue.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A queue whose work ends when the test says so. */
function queueOf() {
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const queue = new WorkQueue((key) => {
    started.push(key);
    return new Promise((resolve) => ends.push(resolve));
  });
  return { queue, started, ends };
}

it('processes a key once that is added several times while it waits', async () => {
  const { queue, started, ends } = queueOf();
  for (let n = 0; n < 20; n += 1) queue.add(`busy-${n}`);
  for (let n = 0; n < 3; n += 1) queue.add('a');
  expect(started).toHaveLength(20);
  ends[0]?.();
  ends[1]?.();
  await settled();
  expect(started.filter((key) => key === 'a')).toHaveLength(1);
});

it('processes a key again that is added while it runs, but not at the same time', async () => {
  const { queue, started, ends } = queueOf();
  queue.add('a');
  queue.add('a');
  expect(started).toEqual(['a']);
  ends[0]?.();
  await settled();
  expect(started).toEqual(['a', 'a']);
});

it('processes a failed key again', async () => {
  let calls = 0;
  const done = new Promise<void>((resolve) => {
    const queue = new WorkQueue(async () => {
      calls += 1;
      if (calls < 3) throw new Error('conflict');
      resolve();
    });
    queue.add('a');
  });
  await done;
  expect(calls).toBe(3);
});
