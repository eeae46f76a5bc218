import { isWatcherStart, type Outcome, type PlannedMutations } from '@sluice/messages';
import { type ControllerState, wantsDecisionAt } from '@sluice/service-state';
import type { TimeSpent } from '../view/entry-schemas.ts';

/** Writes that take longer than this, from their first cause to the last response, say where the time went. In milliseconds. */
const slowWriteMs = 100;

/** A plan with an Outcome. */
export interface CompletedPlan extends Pick<Outcome, 'plan' | 'causes' | 'status' | 'decidedAt' | 'completedAt'> {
  /** Where the time from its first cause to its decision went. */
  readonly held: readonly TimeSpent[];
}

/**
 * Where the time from a plan's first cause to its decision went, in order. `before`: the controller's state on which the plan was decided.
 * Its deadlines follow from the log, so they lack the time that records took to arrive, which counts as `watcher to reconciler`.
 */
export function heldBy(
  plan: PlannedMutations,
  before: ControllerState,
  last: CompletedPlan | undefined,
  batchPeriodMs: number,
): readonly TimeSpent[] {
  const since = startOf(plan);
  if (since === undefined) return [];
  const failed = last !== undefined && startOf(last) === since && isFailed(last, before) ? last : undefined;
  const time = new TimeLine(failed?.decidedAt ?? since, plan.decidedAt, failed?.held);
  const at = dueAt(before);
  if (failed === undefined) {
    if (at !== undefined && at <= since + batchPeriodMs) time.until('batch period', at);
    time.until('plan in flight', last?.completedAt);
  } else time.until(retryOf(before), Math.max(at ?? 0, failed.completedAt));
  time.until(delayOf(before), at);
  time.until(paceOf(before), wantsDecisionAt(before.timers) ?? undefined);
  time.until('watcher to reconciler', plan.decidedAt);
  return time.spent;
}

/** What holds the controller's next decision at that time, and until when; undefined if nothing does. */
export function holdAt(
  before: ControllerState,
  now: number,
): { readonly where: TimeSpent['where']; readonly until: number } | undefined {
  const until = wantsDecisionAt(before.timers);
  if (until === null || until <= now) return undefined;
  if (until !== dueAt(before)) return { where: paceOf(before), until };
  const where = delayOf(before);
  // Only a batch period delays a decision without another reason.
  return { where: where === 'watcher to reconciler' ? 'batch period' : where, until };
}

/** Where the time from the first cause of a write to its last response went, in order; undefined if the write was fast. */
export function timeSpent(outcome: Outcome, held: readonly TimeSpent[]): readonly TimeSpent[] | undefined {
  const since = startOf(outcome);
  const { decidedAt, startedAt, completedAt, results } = outcome;
  if (since === undefined || completedAt - since <= slowWriteMs) return undefined;
  const time = new TimeLine(Math.max(since, decidedAt), completedAt, held);
  time.until('writer queue', startedAt);
  const unsent = results.length > 0 ? 'writer queue and API server' : 'writer queue';
  time.until(startedAt === undefined ? unsent : 'API server', completedAt);
  return time.spent;
}

/** Undefined without a cause, and for objects of a watcher's initial list, which may have changed long before. */
function startOf({ causes }: Pick<Outcome, 'causes'>): number | undefined {
  const [first] = causes.first;
  return first === undefined || isWatcherStart(first) ? undefined : first.observedAt;
}

/** Whether a plan failed and left its causes to the next one. A state that was about to decide again anyway does not say so. */
const isFailed = ({ status }: CompletedPlan, after: ControllerState): boolean =>
  hasFailed(after) || !['applied', 'namespaceTerminating'].includes(status);

const hasFailed = ({ retries }: ControllerState): boolean => retries.failures > 0 || retries.parkedSince !== null;

/** When a decision was requested for. */
function dueAt({ timers: { dueAt, topologyDueAt } }: ControllerState): number | undefined {
  return wantsDecisionAt({ dueAt, delayedUntil: null, topologyDueAt }) ?? undefined;
}

/** Why it was requested for later, other than for a batch period. */
function delayOf(state: ControllerState): TimeSpent['where'] {
  const { timers, repairs } = state;
  if (timers.dueAt !== dueAt(state)) return 'hint pacing';
  if (hasFailed(state)) return retryOf(state);
  return repairs.repairing ? 'repair interval' : 'watcher to reconciler';
}

const retryOf = ({ retries }: ControllerState): TimeSpent['where'] =>
  retries.heldBack === true ? 'mass-change guard' : 'retry';

/** What delays the decision further than it was requested for. */
const paceOf = ({ timers }: ControllerState): TimeSpent['where'] =>
  wantsDecisionAt(timers) === timers.cooldownUntil ? 'write cooldown' : 'adaptive batching';

/** Divides a period at ascending moments. */
class TimeLine {
  readonly spent: TimeSpent[];
  #at: number;
  readonly #end: number;

  constructor(start: number, end: number, spent: readonly TimeSpent[] = []) {
    this.#at = start;
    this.#end = end;
    this.spent = [...spent];
  }

  /** What passes until `at` is spent there; nothing if that time has passed, for clocks differ. */
  until(where: TimeSpent['where'], at: number | undefined): void {
    const to = Math.min(at ?? 0, this.#end);
    const ms = to - this.#at;
    if (ms <= 0) return;
    const last = this.spent.at(-1);
    if (last?.where === where) this.spent.splice(-1, 1, { where, ms: last.ms + ms });
    else this.spent.push({ where, ms });
    this.#at = to;
  }
}
