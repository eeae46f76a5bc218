import { decisionOrder } from '@sluice/controllers';
import {
  type Change,
  comparePlans,
  compareStamps,
  type PlanId,
  type PlannedMutations,
  type ServiceKey,
} from '@sluice/messages';
import type { Controller } from '@sluice/model';
import { decide } from './decide.ts';
import { isComplete, isDisposable, wantsDecisionAt } from './due.ts';
import { evolve, initialState, type ServiceMessage } from './evolve.ts';
import { LogMerge, type LogTopics } from './log-merge.ts';
import { settingsOfPlan } from './reconcile.ts';
import type { ServiceState } from './service-state.ts';
import type { Settings } from './settings.ts';

/**
 * Replays the log of a Service from its beginning and returns its state: applies its records (`LogMerge`), and makes the decisions that
 * led to no plan. Deadlines may differ from those of the reconciler, whose times of arrival are not in the log.
 * `settings`: for what plans do not say (see `settingsOfPlan`).
 */
export function replayLog(key: ServiceKey, log: LogTopics<ServiceMessage>, settings: Settings): ServiceState {
  const replay = new LogReplay(key);
  const merge = new LogMerge<ServiceMessage>((message) => message);
  const last = log.mutations.at(-1);
  for (;;) {
    const next = merge.next(replay.state, log);
    const plan = next?.nextPlan ?? (last?.kind === 'mutations' ? last : undefined);
    const effective = plan === undefined ? settings : settingsOfPlan(plan, settings);
    if (next === undefined) return replay.end(effective);
    replay.apply(next.record, effective);
  }
}

class LogReplay {
  state: ServiceState;
  /** The last plan of each controller. */
  readonly #last = new Map<Controller, PlanId>();
  #now = 0;

  constructor(key: ServiceKey) {
    this.state = initialState(key);
  }

  apply(message: ServiceMessage, settings: Settings): void {
    this.#now = Math.max(this.#now, timeOf(message) ?? 0);
    if (message.kind === 'mutations') return this.#applyPlan(message, settings);
    decideUnchanged(this.state, this.#now, settings);
    if (message.kind === 'change') this.state = stateBefore(this.state, message, this.#now);
    evolve(this.state, message, this.#now, settings);
  }

  /** The state after the decisions that are still due. */
  end(settings: Settings): ServiceState {
    decideUnchanged(this.state, this.#now, settings, Number.POSITIVE_INFINITY);
    return isDisposable(this.state, this.#now) ? initialState(this.state.key) : this.state;
  }

  #applyPlan(message: PlannedMutations, settings: Settings): void {
    const { controller, plan } = message;
    const last = this.#last.get(controller);
    if (last === undefined || comparePlans(plan, last) > 0) {
      this.#last.set(controller, plan);
      evolve(this.state, message, this.#now, settings);
    } else if (this.state.controller(controller).inFlight?.message.plan.number === plan.number)
      evolve(this.state, { kind: 'redelivered', controller }, this.#now, settings);
  }
}

/** The state that a Change finds: an empty one if nothing was left, as reconcilers drop it. A repeated Change does not bring it back. */
export function stateBefore(state: ServiceState, { stamp }: Change, now: number): ServiceState {
  const isRepeated = compareStamps(stamp, state.snapshot.stamp) <= 0;
  return isRepeated || !isDisposable(state, now) ? state : initialState(state.key);
}

/** When the message was sent, in milliseconds since the Unix epoch. */
function timeOf(message: ServiceMessage): number | undefined {
  switch (message.kind) {
    case 'change':
      return message.causes.first[0]?.observedAt;
    case 'outcome':
      return message.completedAt;
    case 'mutations':
      return message.decidedAt;
    case 'compaction':
      return message.requestedAt;
    case 'release':
      return message.releasedAt;
  }
}

/**
 * Makes the decisions that are due until then and lead to no plan, and leaves the others: the log of a Service has only decisions
 * with a plan.
 */
export function decideUnchanged(state: ServiceState, now: number, settings: Settings, until = now): void {
  if (!isComplete(state)) return;
  for (const controller of decisionOrder) {
    const { inFlight, retries, timers } = state.controller(controller);
    const at = wantsDecisionAt(timers);
    if (inFlight !== null || at === null || at > until || (retries.parked !== null && at > now)) continue;
    const nextPlan = { epoch: 0, number: 0 };
    const decision = decide(state, controller, Math.max(at, now), { settings, nextPlan });
    if (decision?.kind === 'unchanged') evolve(state, decision, now, settings);
  }
}
