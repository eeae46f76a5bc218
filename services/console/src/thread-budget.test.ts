import { VirtualClock } from '@sluice/runtime';
import { expect, test } from 'vitest';
import { ThreadBudget } from './thread-budget.ts';

/** A clock on which work takes time. */
class WorkClock extends VirtualClock {
  #worked = 0;
  override monotonic(): number {
    return super.monotonic() + this.#worked;
  }
  work(ms: number): void {
    this.#worked += ms;
  }
}

/** Runs timers and what they resume until `until`. */
async function advance(clock: VirtualClock, until: number): Promise<void> {
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!clock.step(until)) return;
  }
}

test('short work runs immediately', async () => {
  const clock = new WorkClock(0);
  const budget = new ThreadBudget(clock, 0.25);
  let done = 0;
  for (let n = 0; n < 7; n++) {
    void budget.run(() => {
      clock.work(1);
      done++;
    });
  }
  expect(done).toBe(7);
});

test('returns what work returns, and throws what it throws', async () => {
  const budget = new ThreadBudget(new WorkClock(0), 1);
  expect(await budget.run(() => 1)).toBe(1);
  expect(await budget.run(async () => 2)).toBe(2);
  await expect(
    budget.run(() => {
      throw new Error('broken');
    }),
  ).rejects.toThrow('broken');
});

test('long work is done one at a time, in order, with a run of the event loop in between', async () => {
  const clock = new WorkClock(0);
  const budget = new ThreadBudget(clock, 0.25);
  const done: number[] = [];
  for (let n = 0; n < 5; n++) {
    void budget.run(() => {
      clock.work(10);
      done.push(n);
    });
  }
  expect(done).toEqual([0]);
  for (let n = 1; n < 5; n++) {
    expect(clock.step(clock.now() + 1)).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(done).toHaveLength(n + 1);
  }
  expect(done).toEqual([0, 1, 2, 3, 4]);
});

test('work uses no more than its share of the time, after a burst of a second', async () => {
  const clock = new WorkClock(0);
  const budget = new ThreadBudget(clock, 0.25);
  let worked = 0;
  const again = (): Promise<unknown> =>
    budget
      .run(() => {
        clock.work(20);
        worked += 20;
      })
      .then(again);
  for (let n = 0; n < 10; n++) void again();
  await advance(clock, 100_000);

  const elapsed = clock.monotonic();
  expect(worked).toBeLessThan(1_000 + elapsed * 0.25 + 20);
  expect(worked).toBeGreaterThan(elapsed * 0.2);
});

test('iterating lets the event loop run every few milliseconds, counts its time, and returns every item', async () => {
  const clock = new WorkClock(0);
  const budget = new ThreadBudget(clock, 0.25);
  const items: number[] = [];
  const iterated = (async () => {
    for await (const item of budget.iterate([1, 2, 3, 4, 5, 6, 7])) {
      items.push(item);
      clock.work(3);
    }
  })();
  const runs: number[] = [];
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve));
    runs.push(items.length);
    if (!clock.step(clock.now() + 10)) break;
  }
  await iterated;
  expect(items).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(runs).toEqual([3, 6, 7]);
});
