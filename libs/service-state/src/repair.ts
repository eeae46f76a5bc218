import type { Causes } from '@sluice/messages';
import { type ControllerState, type Repairs, requestDecision, type Timers } from './controller-state.ts';

/** Minimum time between two repairs (E4), in milliseconds. */
const intervalMs = 1_000;
/** This many consecutive repairs keep that pace. After them, another controller is assumed, and the interval doubles. */
export const freeRepairs = 5;
const maxRepairIntervalMs = 60_000;
/** After this much time without a repair the count starts again. */
const resetAfterMs = 10 * 60_000;

/**
 * Requests a decision at `at` because another client modified or deleted what this controller writes. The first repair
 * happens at once, later ones are paced: another controller may undo each of them, or the garbage collector may delete a
 * slice as often as it is created because its deleted owner is not known yet. Other decisions are not delayed.
 */
export function requestRepair(state: ControllerState, at: number, causes: Causes, now: number): ControllerState {
  const repairAt = notBefore(state, at);
  const isRequested = state.parked === null && state.dueAt !== null && state.dueAt <= repairAt;
  const requested = requestDecision(state, repairAt, causes, now);
  if (isRequested) return { ...requested, repairing: true };
  return { ...requested, repairAt, repairing: true, repairs: isCalm(state, at) ? 0 : state.repairs };
}

/** The repair of what another client wrote while a plan was in flight. */
export function repairAfterOutcome(
  state: Repairs & Pick<Timers, 'dueAt'>,
  now: number,
): Pick<ControllerState, 'dueAt' | 'repairAt' | 'repairing'> {
  const dueAt = state.repairs < freeRepairs ? now : notBefore(state, now);
  return { dueAt: Math.min(dueAt, state.dueAt ?? dueAt), repairAt: dueAt, repairing: true };
}

/**
 * Whether the controller repairs what a mutating webhook made of its write. The webhook may change every write, so a few
 * repairs in a row are the last ones; the next decision for another reason tries again.
 */
export const repairsAdmission = (state: Repairs, now: number): boolean =>
  state.repairs < freeRepairs || isCalm(state, now);

const isCalm = ({ repairAt }: Repairs, at: number): boolean => repairAt !== null && at - repairAt > resetAfterMs;

/** Counts a decision at `now`. `isWrite`: it led to a write. */
export function afterDecision(
  { repairs, repairing, repairAt, foreignWrites }: Repairs,
  isWrite: boolean,
  now: number,
): Repairs {
  return {
    repairs: repairing && isWrite ? repairs + 1 : repairs,
    repairing: false,
    // A decision for another reason repairs as well, so the next interval begins with it.
    repairAt: repairAt === null ? null : Math.min(repairAt, now),
    ...(foreignWrites?.unrepaired && { foreignWrites: { ...foreignWrites, unrepaired: false } }),
  };
}

function notBefore({ repairAt, repairs }: Repairs, at: number): number {
  if (repairAt === null) return at;
  return Math.max(at, repairAt + repairIntervalMs(repairs));
}

/** Minimum time between two repairs after this many in a row, in milliseconds. */
export function repairIntervalMs(repairs: number): number {
  return Math.min(maxRepairIntervalMs, intervalMs * 2 ** Math.max(0, repairs - freeRepairs));
}
