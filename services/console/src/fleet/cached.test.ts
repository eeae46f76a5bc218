import { VirtualClock } from '@sluice/platform';
import { expect, test } from 'vitest';
import { cached } from './cached.ts';

test('shares one result among callers until it expires', async () => {
  const clock = new VirtualClock();
  let loads = 0;
  const load = cached(clock, 1_000, async () => ++loads);
  expect(await Promise.all([load(), load()])).toEqual([1, 1]);
  clock.step(clock.now() + 999);
  expect(await load()).toBe(1);
  clock.step(clock.now() + 1);
  expect(await load()).toBe(2);
});

test('does not cache failures', async () => {
  let loads = 0;
  const load = cached(new VirtualClock(), 1_000, async () => {
    if (++loads === 1) throw new Error('unavailable');
    return loads;
  });
  await expect(load()).rejects.toThrow('unavailable');
  expect(await load()).toBe(2);
});

test('a load that fails late does not drop a newer result', async () => {
  const clock = new VirtualClock();
  const first = Promise.withResolvers<number>();
  const results = [first.promise, Promise.resolve(2), Promise.resolve(3)];
  const load = cached(clock, 1_000, () => results.shift() ?? expect.unreachable());
  const failed = expect(load()).rejects.toThrow('unavailable');
  clock.step(clock.now() + 1_000);
  expect(await load()).toBe(2);
  first.reject(new Error('unavailable'));
  await failed;
  expect(await load()).toBe(2);
});
