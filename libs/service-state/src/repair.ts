import type { Causes } from '@sluice/messages';
import { type ControllerState, requestDecision } from './controller-state.ts';

/** Between two decisions that only put right what somebody else did (E4), in milliseconds. */
const intervalMs = 1_000;
/** So many in a row are made at that pace. After them somebody is taken to undo each of them, and the pace falls. */
export const freeRepairs = 5;
const maxIntervalMs = 60_000;
/** After so long without one, the next is the first again. */
const calmMs = 10 * 60_000;

/**
 * Somebody else wrote or deleted what this controller writes. That is put right at once, but not again and again at full
 * speed, as when another writer undoes each repair, or a slice is collected as often as it is created because its owner
 * is gone and the news of that is late. What comes from elsewhere is decided without delay all the same.
 */
export function requestRepair(state: ControllerState, at: number, causes: Causes, now: number): ControllerState {
  const repairAt = notBefore(state, at);
  const waits = state.parked === null && state.dueAt !== null && state.dueAt <= repairAt;
  const touched = requestDecision(state, repairAt, causes, now);
  if (waits) return { ...touched, repairing: true };
  const isCalm = state.repairAt !== null && at - state.repairAt > calmMs;
  return { ...touched, repairAt, repairing: true, repairs: isCalm ? 0 : state.repairs };
}

/** When what somebody else wrote, before it was known what we had written, is put right. */
export function repairAfterOutcome(state: ControllerState, now: number): Partial<ControllerState> {
  const dueAt = state.repairs < freeRepairs ? now : notBefore(state, now);
  return { dueAt: Math.min(dueAt, state.dueAt ?? dueAt), repairAt: dueAt, repairing: true };
}

/** What a decision makes of it. `wants`: it led to a write. */
export function afterDecision(
  { repairs, repairing }: ControllerState,
  wants: boolean,
): Pick<ControllerState, 'repairs' | 'repairing'> {
  return { repairs: repairing && wants ? repairs + 1 : repairs, repairing: false };
}

function notBefore({ repairAt, repairs }: ControllerState, at: number): number {
  if (repairAt === null) return at;
  return Math.max(at, repairAt + Math.min(maxIntervalMs, intervalMs * 2 ** Math.max(0, repairs - freeRepairs)));
}
