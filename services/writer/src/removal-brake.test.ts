import type { ReadyEndpointsDelta } from '@sluice/messages';
import { VirtualClock } from '@sluice/runtime';
import { beforeEach, expect, test } from 'vitest';
import { RemovalBrake, type RemovalBrakeOptions } from './removal-brake.ts';
import { aPlan } from './testing/plans.ts';

let clock: VirtualClock;
let brake: RemovalBrake;

const make = (given: Partial<RemovalBrakeOptions> = {}) => new RemovalBrake({ percent: 25, clock, ...given });
const must = (ready: ReadyEndpointsDelta, lane = 0) => brake.mustConfirm(aPlan([], { ready }), lane);
const wait = (ms: number) => {
  const until = clock.now() + ms;
  while (clock.step(until));
};

beforeEach(() => {
  clock = new VirtualClock(1_000);
  brake = make();
});

test('so much of the cluster may go within a minute, and no more unconfirmed', () => {
  expect(must({ delta: -150, total: 1_000 })).toBe(false);
  expect(must({ delta: -100, total: 850 })).toBe(false);
  expect(must({ delta: -1, total: 750 })).toBe(true);
  wait(61_000);
  expect(must({ delta: -100, total: 749 })).toBe(false);
});

test('what comes makes up for what goes', () => {
  for (let i = 0; i < 500; i++) {
    expect(must({ delta: -1, total: 100 })).toBe(false);
    expect(must({ delta: 1, total: 99 })).toBe(false);
  }
  // But what has come just before does not.
  expect(must({ delta: 500, total: 100 })).toBe(false);
  expect(must({ delta: -500, total: 600 })).toBe(true);
});

test('the lanes of a process count together', () => {
  expect(must({ delta: 1, total: 300 }, 1)).toBe(false);
  expect(must({ delta: 1, total: 300 }, 2)).toBe(false);
  // All of its lane, and a seventh of what is known.
  expect(must({ delta: -100, total: 100 }, 0)).toBe(false);
  expect(must({ delta: -100, total: 301 }, 1)).toBe(true);
});

test('controllers are counted each for itself', () => {
  expect(must({ delta: -40, total: 100 })).toBe(true);
  const endpoints = aPlan([], { controller: 'endpoints', ready: { delta: -20, total: 100 } });
  expect(brake.mustConfirm(endpoints, 0)).toBe(false);
});

test('a few endpoints may always go; in a process with few of the lanes, fewer', () => {
  expect(must({ delta: -20, total: 20 })).toBe(false);
  brake = make({ lanes: () => 1 / 8 });
  expect(must({ delta: -2, total: 3 })).toBe(false);
  expect(must({ delta: -1, total: 1 })).toBe(true);
});

test('what came to nothing before is confirmed always, and counted once', () => {
  expect(must({ delta: -10, total: 1_000, repeated: true })).toBe(true);
  for (let i = 0; i < 100; i++) must({ delta: -10, total: 1_000, repeated: true });
  expect(must({ delta: -10, total: 1_000 })).toBe(false);
  expect(must({ delta: 10, total: 1_000, repeated: true })).toBe(false);
});

test('a hundred percent is no brake, and a plan that takes nothing away never waits', () => {
  expect(must({ delta: 900, total: 0 })).toBe(false);
  expect(brake.mustConfirm(aPlan([]), 0)).toBe(false);
  brake = make({ percent: 100 });
  expect(must({ delta: -900, total: 900, repeated: true })).toBe(false);
});

test('what a person lets go passes', () => {
  expect(must({ delta: -900, total: 900, repeated: true, released: true })).toBe(false);
  expect(must({ delta: -900, total: 900, repeated: true })).toBe(true);
});

test('after many looks that found all as told one plan in ten is looked at, until one look finds otherwise', () => {
  must({ delta: -300, total: 1_000 });
  const lookedAt = (plans: number) => {
    let looks = 0;
    for (let i = 0; i < plans; i++) {
      if (!must({ delta: -1, total: 700 })) continue;
      looks += 1;
      brake.checked('confirmed', '');
    }
    return looks;
  };
  expect(lookedAt(20)).toBe(20);
  expect(lookedAt(100)).toBe(10);
  brake.checked('overtaken', '');
  expect(lookedAt(100)).toBe(10);
  for (const doubt of ['refuted', 'unknown'] as const) {
    brake.checked(doubt, '');
    expect(lookedAt(120)).toBe(30);
  }
  // What was confirmed an hour ago says nothing of another loss.
  wait(3_600_000);
  must({ delta: -300, total: 700 });
  expect(lookedAt(20)).toBe(20);
});
