import { describe, expect, test } from 'vitest';
import { untilNextTick, untilTick, VirtualClock } from './clock.ts';
import { advance } from './testing/index.ts';

describe('untilTick', () => {
  test('is the same moment for all callers, whenever they ask', async () => {
    const clock = new VirtualClock(1_030);
    const ticks: number[] = [];
    const atTick = () => clock.schedule(untilTick(clock, 250), () => ticks.push(clock.now()));
    atTick();
    await advance(clock, 200);
    atTick();
    await advance(clock, 20);
    expect(ticks).toEqual([1_250, 1_250]);
  });

  test('is a whole interval at a tick, so that a timer is never late for its own tick', () => {
    expect(untilTick(new VirtualClock(1_000), 250)).toBe(250);
  });

  test.each([
    [100, 90],
    [189, 1],
    [190, 250],
    [191, 249],
    [1_000, 190],
  ])('at %d ms, the next tick with offset 190 is in %d ms', (now, expected) => {
    expect(untilTick(new VirtualClock(now), 250, 190)).toBe(expected);
  });

  test('is 0 without an interval', () => {
    expect(untilTick(new VirtualClock(1_030), 0)).toBe(0);
  });
});

test.each([
  [1_000, 250],
  [1_001, 249],
  [1_100, 150],
  [1_225, 25],
  [1_226, 274],
  [1_249.5, 250.5],
])('at %d ms, a loop with ticks of 250 ms that has just run sleeps %d ms', (now, expected) => {
  expect(untilNextTick(new VirtualClock(now), 250)).toBe(expected);
});
