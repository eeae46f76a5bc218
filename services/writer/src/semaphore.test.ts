import { expect, test } from 'vitest';
import { Semaphore } from './semaphore.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('so many run at once, the others in order, whether those before succeed or fail (A6)', async () => {
  const semaphore = new Semaphore(2);
  const running = new Set<number>();
  const started: number[] = [];
  const ends: (() => void)[] = [];
  const tasks = Array.from({ length: 6 }, (_, i) =>
    semaphore.run(async () => {
      started.push(i);
      running.add(i);
      await new Promise<void>((resolve) => {
        ends[i] = resolve;
      });
      running.delete(i);
      if (i % 2 === 0) throw new Error(`task ${i}`);
      return i;
    }),
  );
  const ended = Promise.allSettled(tasks);
  for (let i = 0; i < 6; i++) {
    await turn();
    expect(running.size).toBe(Math.min(2, 6 - i));
    ends[i]?.();
  }
  expect((await ended).map(({ status }) => status)).toEqual(Array(3).fill(['rejected', 'fulfilled']).flat());
  expect(started).toEqual([0, 1, 2, 3, 4, 5]);
  await expect(semaphore.run(async () => 'free again')).resolves.toBe('free again');
});

test('a task that throws at once gives its place back', async () => {
  const semaphore = new Semaphore(1);
  const fail = () => {
    throw new Error('at once');
  };
  await expect(semaphore.run(fail)).rejects.toThrow('at once');
  await expect(semaphore.run(async () => 1)).resolves.toBe(1);
});
