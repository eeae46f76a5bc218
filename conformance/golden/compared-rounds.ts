import type { JsonObject } from '@sluice/shadow';
import type { Vector } from './vector.ts';

/** What Sluice is compared with after a round. */
export interface ComparedRound {
  readonly objects: JsonObject;
  /** Whether Events are compared. */
  readonly events: boolean;
}

/** Why a round is not compared. */
export type Omission = 'nothing runs' | 'no resync follows' | 'caches lag';

export const isCompared = (round: ComparedRound | Omission): round is ComparedRound => typeof round !== 'string';

/**
 * What each round is compared with. In vectors, a resync follows each step, because upstream misses some changes until then.
 *
 * With `resyncs`, Sluice gets them as well, misses the same changes, and is compared with upstream's state of each round.
 * Without, a resync is nothing to Sluice: each round must already have the state that upstream has after the next resync.
 * Events are not compared, since upstream repeats some of them with each resync.
 */
export function comparedRounds(vector: Vector, resyncs: boolean): readonly (ComparedRound | Omission)[] {
  const open = new Set(vector.open);
  const lags = vector.scenario.config?.lag === true;
  const states = statesOf(vector);
  return states.map((own, round) => {
    if (!open.has(round)) return { objects: own, events: resyncs };
    const step = stepOf(vector, round);
    if (step?.run === false || step?.op === 'fault') return 'nothing runs';
    const settled = states[nextResync(vector, round, open) ?? -1];
    if (!resyncs) return settled === undefined ? 'no resync follows' : { objects: settled, events: false };
    // Until the resync, upstream decides from caches that lack its own writes. Sluice's state never lacks them.
    if (lags && settled !== own) return 'caches lag';
    return { objects: own, events: !lags };
  });
}

/** Equal states of successive rounds are the same object. */
function statesOf({ expect }: Vector): readonly JsonObject[] {
  let state: JsonObject = {};
  return expect.rounds.map(({ objects }) => {
    if (objects !== '=') state = objects;
    return state;
  });
}

const stepOf = ({ scenario }: Vector, round: number) => scenario.steps?.[round - 1];

/** The round of the resync after the step of an open round. */
function nextResync(vector: Vector, round: number, open: ReadonlySet<number>): number | undefined {
  let next = round + 1;
  while (open.has(next) && stepOf(vector, next)?.op === 'deliver') next++;
  return open.has(next) ? undefined : next;
}
