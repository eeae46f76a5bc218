import type { ReadyEndpointsDelta } from '@sluice/messages';
import { VirtualClock } from '@sluice/platform';
import { beforeEach, expect, test } from 'vitest';
import { aPlan } from '../testing/plans.ts';
import { MassChangeGuard, type MassChangeGuardOptions } from './mass-change-guard.ts';

let clock: VirtualClock;
let guard: MassChangeGuard;

const newGuard = (given: Partial<MassChangeGuardOptions> = {}) =>
  new MassChangeGuard('removal', { percent: 25, clock, ...given });
const requires = (ready: ReadyEndpointsDelta, partition = 0) =>
  guard.requiresConfirmation(aPlan([], { ready }), partition);
const wait = (ms: number) => {
  const until = clock.now() + ms;
  while (clock.step(until));
};

beforeEach(() => {
  clock = new VirtualClock(1_000);
  guard = newGuard();
});

test('requires confirmation beyond a share of the cluster within a minute', () => {
  expect(requires({ delta: -150, total: 1_000 })).toBe(false);
  expect(requires({ delta: -100, total: 850 })).toBe(false);
  expect(requires({ delta: -1, total: 750 })).toBe(true);
  wait(61_000);
  expect(requires({ delta: -100, total: 749 })).toBe(false);
});

test('additions offset later removals', () => {
  for (let i = 0; i < 500; i++) {
    expect(requires({ delta: -1, total: 100 })).toBe(false);
    expect(requires({ delta: 1, total: 99 })).toBe(false);
  }
  // But not earlier ones.
  expect(requires({ delta: 500, total: 100 })).toBe(false);
  expect(requires({ delta: -500, total: 600 })).toBe(true);
});

test('counts all partitions of the process together', () => {
  expect(requires({ delta: 1, total: 300 }, 1)).toBe(false);
  expect(requires({ delta: 1, total: 300 }, 2)).toBe(false);
  // All endpoints of its partition, but a seventh of all known ones.
  expect(requires({ delta: -100, total: 100 }, 0)).toBe(false);
  expect(requires({ delta: -100, total: 301 }, 1)).toBe(true);
});

test('counts controllers separately', () => {
  expect(requires({ delta: -40, total: 100 })).toBe(true);
  const endpoints = aPlan([], { controller: 'endpoints', ready: { delta: -20, total: 100 } });
  expect(guard.requiresConfirmation(endpoints, 0)).toBe(false);
});

test('allows a few removals unconfirmed, and fewer in a process that owns few partitions', () => {
  expect(requires({ delta: -20, total: 20 })).toBe(false);
  guard = newGuard({ partitionShare: () => 1 / 8 });
  expect(requires({ delta: -2, total: 3 })).toBe(false);
  expect(requires({ delta: -1, total: 1 })).toBe(true);
});

test('always confirms a retried plan, and counts it once', () => {
  expect(requires({ delta: -10, total: 1_000, repeated: true })).toBe(true);
  for (let i = 0; i < 100; i++) requires({ delta: -10, total: 1_000, repeated: true });
  expect(requires({ delta: -10, total: 1_000 })).toBe(false);
  expect(requires({ delta: 10, total: 1_000, repeated: true })).toBe(false);
});

test('is off at 100 percent, and ignores plans that remove nothing', () => {
  expect(requires({ delta: 900, total: 0 })).toBe(false);
  expect(guard.requiresConfirmation(aPlan([]), 0)).toBe(false);
  guard = newGuard({ percent: 100 });
  expect(requires({ delta: -900, total: 900, repeated: true })).toBe(false);
});

test('lets a released plan pass', () => {
  expect(requires({ delta: -900, total: 900, repeated: true, released: true })).toBe(false);
  expect(requires({ delta: -900, total: 900, repeated: true })).toBe(true);
});

test('after many confirmations it samples one plan in ten, until a check fails', () => {
  requires({ delta: -300, total: 1_000 });
  const checkedPlans = (plans: number) => {
    let checks = 0;
    for (let i = 0; i < plans; i++) {
      if (!requires({ delta: -1, total: 700 })) continue;
      checks += 1;
      guard.recordCheck('confirmed', '');
    }
    return checks;
  };
  expect(checkedPlans(20)).toBe(20);
  expect(checkedPlans(100)).toBe(10);
  for (const result of ['refuted', 'unknown', 'overtaken'] as const) {
    guard.recordCheck(result, '');
    expect(checkedPlans(120)).toBe(30);
  }
  // Confirmations from an hour ago say nothing about another drop.
  wait(3_600_000);
  requires({ delta: -300, total: 700 });
  expect(checkedPlans(20)).toBe(20);
});
