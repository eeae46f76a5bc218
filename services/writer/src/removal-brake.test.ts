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
  expect(must({ by: -150, of: 1_000 })).toBe(false);
  expect(must({ by: -100, of: 850 })).toBe(false);
  expect(must({ by: -1, of: 750 })).toBe(true);
  wait(61_000);
  expect(must({ by: -100, of: 749 })).toBe(false);
});

test('what comes makes up for what goes', () => {
  for (let i = 0; i < 500; i++) {
    expect(must({ by: -1, of: 100 })).toBe(false);
    expect(must({ by: 1, of: 99 })).toBe(false);
  }
  // But what has come just before does not.
  expect(must({ by: 500, of: 100 })).toBe(false);
  expect(must({ by: -500, of: 600 })).toBe(true);
});

test('the lanes of a process count together', () => {
  expect(must({ by: 1, of: 300 }, 1)).toBe(false);
  expect(must({ by: 1, of: 300 }, 2)).toBe(false);
  // All of its lane, and a seventh of what is known.
  expect(must({ by: -100, of: 100 }, 0)).toBe(false);
  expect(must({ by: -100, of: 301 }, 1)).toBe(true);
});

test('controllers are counted each for itself', () => {
  expect(must({ by: -40, of: 100 })).toBe(true);
  const endpoints = aPlan([], { controller: 'endpoints', ready: { by: -20, of: 100 } });
  expect(brake.mustConfirm(endpoints, 0)).toBe(false);
});

test('a few endpoints may always go; in a process with few of the lanes, fewer', () => {
  expect(must({ by: -20, of: 20 })).toBe(false);
  brake = make({ lanes: () => 1 / 8 });
  expect(must({ by: -2, of: 3 })).toBe(false);
  expect(must({ by: -1, of: 1 })).toBe(true);
});

test('what came to nothing before is confirmed always, and counted once', () => {
  expect(must({ by: -10, of: 1_000, again: true })).toBe(true);
  for (let i = 0; i < 100; i++) must({ by: -10, of: 1_000, again: true });
  expect(must({ by: -10, of: 1_000 })).toBe(false);
  expect(must({ by: 10, of: 1_000, again: true })).toBe(false);
});

test('a hundred percent is no brake, and a plan that takes nothing away never waits', () => {
  expect(must({ by: 900, of: 0 })).toBe(false);
  expect(brake.mustConfirm(aPlan([]), 0)).toBe(false);
  brake = make({ percent: 100 });
  expect(must({ by: -900, of: 900, again: true })).toBe(false);
});

test('what a person lets go passes', () => {
  expect(must({ by: -900, of: 900, again: true, released: true })).toBe(false);
  expect(must({ by: -900, of: 900, again: true })).toBe(true);
});

test('after many looks that found all as told one plan in ten is looked at, until one look finds otherwise', () => {
  must({ by: -300, of: 1_000 });
  const lookedAt = (plans: number) => {
    let looks = 0;
    for (let i = 0; i < plans; i++) {
      if (!must({ by: -1, of: 700 })) continue;
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
  must({ by: -300, of: 700 });
  expect(lookedAt(20)).toBe(20);
});
