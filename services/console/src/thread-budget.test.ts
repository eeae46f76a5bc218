import { VirtualClock } from '@sluice/platform';
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

test('after long work, other work waits until the share of the thread has made up for it', async () => {
  const clock = new WorkClock(0);
  const budget = new ThreadBudget(clock, 0.25);
  let done = 0;
  await budget.run(() => clock.work(5_000));
  for (let n = 0; n < 2; n++) void budget.run(() => done++);
  // A burst of 1 s and a quarter of 5 s are allowed: 2.75 s too many take 11 s.
  await advance(clock, 10_900);
  expect(done).toBe(0);
  await advance(clock, 11_100);
  expect(done).toBe(2);
});

test('a long rest permits no more than a burst of a second', async () => {
  const clock = new WorkClock(0);
  const budget = new ThreadBudget(clock, 0.25);
  await advance(clock, 1_000_000);
  let done = 0;
  for (let n = 0; n < 20; n++) {
    void budget.run(() => {
      clock.work(200);
      done++;
    });
  }
  await advance(clock, 1_000_050);
  expect(done).toBeGreaterThanOrEqual(5);
  expect(done).toBeLessThanOrEqual(8);
});

test('iterating counts the time of an iteration that its caller ends early', async () => {
  const clock = new WorkClock(0);
  const budget = new ThreadBudget(clock, 0.25);
  for await (const item of budget.iterate([1, 2, 3])) {
    clock.work(5_000);
    if (item === 1) break;
  }
  let done = 0;
  void budget.run(() => done++);
  await advance(clock, 10_900);
  expect(done).toBe(0);
  await advance(clock, 11_100);
  expect(done).toBe(1);
});
