import { noCauses } from '@sluice/messages';
import { expect, test } from 'vitest';
import { type ControllerState, initialControllerState, requestDecision } from './controller-state.ts';
import { afterDecision, freeRepairs, repairAfterOutcome, requestRepair } from './repair.ts';

/** Somebody undoes each repair at once. `times` of the repairs in seconds, from 0. */
function fight(count: number): { readonly times: readonly number[]; readonly state: ControllerState; now: number } {
  let state: ControllerState = initialControllerState;
  let now = 0;
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    state = requestRepair(state, now, noCauses, now);
    now = state.dueAt ?? now;
    times.push(now / 1000);
    state = { ...state, ...afterDecision(state, true, now), dueAt: null };
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
  expect(waiting.dueAt).toBe(now + 60_000);
  expect(requestDecision(waiting, now + 5, noCauses, now + 5).dueAt).toBe(now + 5);
});

test('a repair that another decision makes early begins the next interval', () => {
  const { state, now } = fight(12);
  const waiting = requestRepair(state, now, noCauses, now);
  const at = now + 5;
  const repaired = { ...waiting, ...afterDecision(waiting, true, at), dueAt: null };
  expect(requestRepair(repaired, at, noCauses, at).dueAt).toBe(at + 60_000);
});

test('after ten minutes without a repair, the next one is made at once', () => {
  const { state, now } = fight(12);
  expect(state.repairs).toBe(12);
  const later = now + 11 * 60_000;
  expect(requestRepair(state, later, noCauses, later)).toMatchObject({ dueAt: later, repairs: 0 });
});

test('only requested repairs that lead to a write count', () => {
  const wanted = requestRepair(initialControllerState, 0, noCauses, 0);
  expect(afterDecision(wanted, false, 0)).toMatchObject({ repairs: 0, repairing: false });
  expect(afterDecision(wanted, true, 0)).toMatchObject({ repairs: 1, repairing: false });
  const other = requestDecision(initialControllerState, 0, noCauses, 0);
  expect(afterDecision(other, true, 0)).toMatchObject({ repairs: 0, repairing: false });
});

test('what was undone before the Outcome is repaired at once, unless repairs are paced', () => {
  expect(repairAfterOutcome(initialControllerState, 7)).toMatchObject({ dueAt: 7, repairing: true });
  const { state, now } = fight(freeRepairs + 1);
  expect(repairAfterOutcome(state, now).dueAt).toBe(now + 2_000);
  // Something else is due earlier.
  expect(repairAfterOutcome({ ...state, dueAt: now + 3 }, now).dueAt).toBe(now + 3);
});

test('a repair that is requested already keeps its time', () => {
  const requested = { ...initialControllerState, dueAt: 5, repairAt: 3 };
  expect(requestRepair(requested, 5, noCauses, 5)).toMatchObject({ dueAt: 5, repairAt: 3, repairing: true });
  const later = { ...initialControllerState, dueAt: 2_000, repairAt: 3 };
  expect(requestRepair(later, 5, noCauses, 5)).toMatchObject({ dueAt: 1_003, repairAt: 1_003 });
});

test('a repair of a parked key is made at its own time', () => {
  const parked = { ...initialControllerState, dueAt: 3, parked: 'quota' };
  expect(requestRepair(parked, 5, noCauses, 5)).toMatchObject({ dueAt: 5, repairAt: 5, parked: null });
});

test('repairs count until ten minutes have passed without one', () => {
  const before = { ...initialControllerState, repairAt: 1_000, repairs: 7 };
  for (const [at, repairs] of [
    [600_999, 7],
    [601_000, 7],
    [601_001, 0],
  ] as const)
    expect(requestRepair(before, at, noCauses, at).repairs).toBe(repairs);
});
