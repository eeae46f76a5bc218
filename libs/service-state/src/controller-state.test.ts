import { expect, test } from 'vitest';
import { initialControllerState, pendingDelay, requestDecision } from './controller-state.ts';
import { whatHappened } from './testing/messages.ts';
import { aController, type GivenParts } from './testing/objects.ts';

const now = 100;
const causes = whatHappened('this');
const requested = (given: GivenParts, at: number) => {
  const { timers, retries } = requestDecision(aController(given), at, causes, now);
  return { ...timers, parked: retries.parked };
};

test.each<[string, GivenParts, number, number, number | null]>([
  ['is made then', {}, 100, 100, null],
  ['with a delay is made then', {}, 150, 150, 150],
  ['is made when an earlier one is due', { timers: { dueAt: 120, delayedUntil: 120 } }, 150, 120, 120],
  ['is made before a later one, whose delay stays', { timers: { dueAt: 180, delayedUntil: 180 } }, 100, 100, 180],
  [
    'with a shorter delay is made before one with a longer one',
    { timers: { dueAt: 180, delayedUntil: 180 } },
    150,
    150,
    150,
  ],
  ['forgets a delay that has passed', { timers: { dueAt: 90, delayedUntil: 100 } }, 150, 90, 150],
  [
    'of a parked key does not wait for the slow retry',
    { timers: { dueAt: 500 }, retries: { parked: 'quota' } },
    150,
    150,
    150,
  ],
  ['of a parked key is not made before', { timers: { dueAt: 120 }, retries: { parked: 'quota' } }, 150, 150, 150],
])('a requested decision %s', (_, given, at, dueAt, delayedUntil) => {
  expect(requested(given, at)).toEqual({ dueAt, delayedUntil, parked: null });
});

test('causes are collected', () => {
  const before = { ...initialControllerState, causes: whatHappened('that') };
  const descriptions = requestDecision(before, now, causes, now).causes.first.map(({ description }) => description);
  expect(descriptions).toEqual(['that', 'this']);
});

test('only a delay in the future is pending', () => {
  const pending = (delayedUntil: number | null) => pendingDelay({ dueAt: null, delayedUntil }, now);
  expect([99, 100, 101, null].map(pending)).toEqual([Infinity, Infinity, 101, Infinity]);
});
