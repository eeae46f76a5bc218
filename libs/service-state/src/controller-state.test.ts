import { noCauses } from '@sluice/messages';
import { expect, test } from 'vitest';
import {
  afterDecision,
  type ControllerState,
  freeRepairs,
  initialControllerState,
  pendingDelay,
  repairAfterOutcome,
  requestDecision,
  requestRepair,
} from './controller-state.ts';
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

/** A decision that writes. */
const decided = (state: ControllerState, now: number): ControllerState =>
  aController({ timers: { dueAt: null }, repairs: afterDecision(state.repairs, true, now) }, state);

/** Somebody undoes each repair at once. `times` of the repairs in seconds, from 0. */
function fight(count: number): { readonly times: readonly number[]; readonly state: ControllerState; now: number } {
  let state: ControllerState = initialControllerState;
  let now = 0;
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    state = requestRepair(state, now, noCauses, now);
    now = state.timers.dueAt ?? now;
    times.push(now / 1000);
    state = decided(state, now);
  }
  return { times, state, now };
}

test('repairs that are undone are paced once a second, then ever more slowly, down to once a minute', () => {
  const { times } = fight(16);
  const gaps = times.slice(1).map((time, i) => time - (times[i] ?? 0));
  expect(gaps).toEqual([1, 1, 1, 1, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60]);
});

test('other decisions are not delayed', () => {
  const { state, now } = fight(12);
  const waiting = requestRepair(state, now, noCauses, now);
  expect(waiting.timers.dueAt).toBe(now + 60_000);
  expect(requestDecision(waiting, now + 5, noCauses, now + 5).timers.dueAt).toBe(now + 5);
});

test('a repair that another decision makes early begins the next interval', () => {
  const { state, now } = fight(12);
  const waiting = requestRepair(state, now, noCauses, now);
  const at = now + 5;
  expect(requestRepair(decided(waiting, at), at, noCauses, at).timers.dueAt).toBe(at + 60_000);
});

test('after ten minutes without a repair, the next one is made at once', () => {
  const { state, now } = fight(12);
  expect(state.repairs.count).toBe(12);
  const later = now + 11 * 60_000;
  expect(requestRepair(state, later, noCauses, later)).toMatchObject({
    timers: { dueAt: later },
    repairs: { count: 0 },
  });
});

test('only requested repairs that lead to a write count', () => {
  const wanted = requestRepair(initialControllerState, 0, noCauses, 0);
  expect(afterDecision(wanted.repairs, false, 0)).toMatchObject({ count: 0, repairing: false });
  expect(afterDecision(wanted.repairs, true, 0)).toMatchObject({ count: 1, repairing: false });
  const other = requestDecision(initialControllerState, 0, noCauses, 0);
  expect(afterDecision(other.repairs, true, 0)).toMatchObject({ count: 0, repairing: false });
});

test('what was undone before the Outcome is repaired at once, unless repairs are paced', () => {
  expect(repairAfterOutcome(initialControllerState, 7)).toMatchObject({
    timers: { dueAt: 7 },
    repairs: { repairing: true },
  });
  const { state, now } = fight(freeRepairs + 1);
  expect(repairAfterOutcome(state, now).timers.dueAt).toBe(now + 2_000);
  // Something else is due earlier.
  expect(repairAfterOutcome({ ...state, timers: { ...state.timers, dueAt: now + 3 } }, now).timers.dueAt).toBe(now + 3);
});

test('a repair that is requested already keeps its time', () => {
  const requested = aController({ timers: { dueAt: 5 }, repairs: { repairAt: 3 } });
  expect(requestRepair(requested, 5, noCauses, 5)).toMatchObject({
    timers: { dueAt: 5 },
    repairs: { repairAt: 3, repairing: true },
  });
  const later = aController({ timers: { dueAt: 2_000 }, repairs: { repairAt: 3 } });
  expect(requestRepair(later, 5, noCauses, 5)).toMatchObject({
    timers: { dueAt: 1_003 },
    repairs: { repairAt: 1_003 },
  });
});

test('a repair of a parked key is made at its own time', () => {
  const parked = aController({ timers: { dueAt: 3 }, retries: { parked: 'quota' } });
  expect(requestRepair(parked, 5, noCauses, 5)).toMatchObject({
    timers: { dueAt: 5 },
    repairs: { repairAt: 5 },
    retries: { parked: null },
  });
});

test('repairs count until ten minutes have passed without one', () => {
  const before = aController({ repairs: { repairAt: 1_000, count: 7 } });
  for (const [at, repairs] of [
    [600_999, 7],
    [601_000, 7],
    [601_001, 0],
  ] as const)
    expect(requestRepair(before, at, noCauses, at).repairs.count).toBe(repairs);
});
