import { VirtualClock } from '@sluice/runtime';
import { expect, test } from 'vitest';
import { remembered } from './remembered.ts';

test('one answer serves all who ask within the time', async () => {
  const clock = new VirtualClock();
  let loads = 0;
  const load = remembered(clock, 1_000, async () => ++loads);
  expect(await Promise.all([load(), load()])).toEqual([1, 1]);
  clock.step(clock.now() + 999);
  expect(await load()).toBe(1);
  clock.step(clock.now() + 1);
  expect(await load()).toBe(2);
});

test('a failure is told, and tried again at once', async () => {
  let loads = 0;
  const load = remembered(new VirtualClock(), 1_000, async () => {
    if (++loads === 1) throw new Error('away');
    return loads;
  });
  await expect(load()).rejects.toThrow('away');
  expect(await load()).toBe(2);
});
