import type { Causes } from '@sluice/messages';
import { type ControllerState, type Repairs, requestDecision } from './controller-state.ts';

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
  const { repairs, retries, timers } = state;
  const repairAt = notBefore(repairs, at);
  const isRequested = retries.parked === null && timers.dueAt !== null && timers.dueAt <= repairAt;
  const paced = { repairAt, count: isCalm(repairs, at) ? 0 : repairs.count };
  const requested = requestDecision(state, repairAt, causes, now);
  return { ...requested, repairs: { ...repairs, repairing: true, ...(!isRequested && paced) } };
}

/** The repair of what another client wrote while a plan was in flight. */
export function repairAfterOutcome(state: ControllerState, now: number): ControllerState {
  const { repairs, timers } = state;
  const repairAt = repairs.count < freeRepairs ? now : notBefore(repairs, now);
  return {
    ...state,
    timers: { ...timers, dueAt: Math.min(repairAt, timers.dueAt ?? repairAt) },
    repairs: { ...repairs, repairAt, repairing: true },
  };
}

/**
 * Whether the controller repairs what a mutating webhook made of its write. The webhook may change every write, so a few
 * repairs in a row are the last ones; the next decision for another reason tries again.
 */
export const repairsAdmission = ({ repairs }: ControllerState, now: number): boolean =>
  repairs.count < freeRepairs || isCalm(repairs, now);

const isCalm = ({ repairAt }: Repairs, at: number): boolean => repairAt !== null && at - repairAt > resetAfterMs;

/** Counts a decision at `now`. `isWrite`: it led to a write. */
export function afterDecision(repairs: Repairs, isWrite: boolean, now: number): Repairs {
  const { count, repairing, repairAt, foreignWrites } = repairs;
  return {
    ...repairs,
    count: repairing && isWrite ? count + 1 : count,
    repairing: false,
    // A decision for another reason repairs as well, so the next interval begins with it.
    repairAt: repairAt === null ? null : Math.min(repairAt, now),
    ...(foreignWrites?.unrepaired && { foreignWrites: { ...foreignWrites, unrepaired: false } }),
  };
}

function notBefore({ repairAt, count }: Repairs, at: number): number {
  if (repairAt === null) return at;
  return Math.max(at, repairAt + repairIntervalMs(count));
}

/** Minimum time between two repairs after this many in a row, in milliseconds. */
export function repairIntervalMs(repairs: number): number {
  return Math.min(maxRepairIntervalMs, intervalMs * 2 ** Math.max(0, repairs - freeRepairs));
}
