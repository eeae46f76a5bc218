import { decisionOrder } from '@sluice/controllers';
import {
  comparePlans,
  compareStamps,
  type Outcome,
  type PlanId,
  type PlannedMutations,
  type ServiceKey,
  type Stamp,
} from '@sluice/messages';
import type { Controller } from '@sluice/model';
import { decide } from './decide.ts';
import { isDisposable, wantsDecisionAt } from './due.ts';
import { evolve, initialState, type ServiceMessage } from './evolve.ts';
import { isBasisReached, settingsOfPlan } from './plan-basis.ts';
import type { ServiceState } from './service-state.ts';
import type { Settings } from './settings.ts';

/** The records of one Service, from the beginning of the log, each topic in its order. */
export interface ServiceLog {
  readonly changes: readonly ServiceMessage[];
  readonly mutations: readonly PlannedMutations[];
}

/**
 * Replays the log of a Service and returns its state: applies its records, each plan where it was decided (`PlanBasis`), and makes the
 * decisions that led to no plan. Deadlines may differ from those of the reconciler, whose times of arrival are not in the log.
 * `settings`: for what plans do not say (see `settingsOfPlan`).
 */
export function replayLog(key: ServiceKey, log: ServiceLog, settings: Settings): ServiceState {
  return new LogReplay(key, log, settings).run();
}

class LogReplay {
  #state: ServiceState;
  /** Stamp of the last Change. A repeated one does not bring a dropped state back. */
  #stamp: Stamp = { epoch: 0, sequence: 0 };
  readonly #changes: (ServiceMessage | undefined)[];
  readonly #plans: readonly PlannedMutations[];
  readonly #base: Settings;
  #next = 0;
  /** The last plan of each controller. */
  readonly #last = new Map<Controller, PlanId>();
  #now = 0;

  constructor(key: ServiceKey, { changes, mutations }: ServiceLog, settings: Settings) {
    this.#state = initialState(key);
    this.#changes = [...changes];
    this.#plans = mutations;
    this.#base = settings;
  }

  /** Those with which the next plan was decided, or the last one. */
  get #settings(): Settings {
    const plan = this.#plans[this.#next] ?? this.#plans.at(-1);
    return plan === undefined ? this.#base : settingsOfPlan(plan, this.#base);
  }

  run(): ServiceState {
    for (const index of this.#changes.keys()) this.#applyRecord(index);
    this.#decideUnchanged(Number.POSITIVE_INFINITY);
    return this.#state;
  }

  #applyRecord(index: number): void {
    const message = this.#changes[index];
    if (message === undefined) return;
    this.#changes[index] = undefined;
    if (message.kind === 'outcome') this.#applyPlansUpTo(message);
    if (message.kind === 'change') {
      if (compareStamps(message.stamp, this.#stamp) <= 0) return;
      this.#stamp = message.stamp;
    }
    this.#now = Math.max(this.#now, timeOf(message) ?? 0);
    this.#decideUnchanged(this.#now);
    evolve(this.#state, message, this.#now, this.#settings);
    this.#applyPlans();
  }

  #decideUnchanged(until: number): void {
    decideUnchanged(this.#state, this.#now, this.#settings, until);
    if (isDisposable(this.#state)) this.#state = initialState(this.#state.key);
  }

  #applyPlans(): void {
    for (;;) {
      const plan = this.#plans[this.#next];
      if (plan === undefined || isBasisReached(this.#state, plan) === false) return;
      this.#applyPlan(plan);
      this.#next++;
    }
  }

  /**
   * An Outcome follows its plan, and a plan the Changes on which it was decided. A worker applies its own records before the
   * log has them, so the log may have them in another order.
   */
  #applyPlansUpTo({ controller, plan: completed }: Outcome): void {
    const last = this.#last.get(controller);
    if (last !== undefined && comparePlans(completed, last) <= 0) return;
    const plan = this.#plans.find((one) => one.controller === controller && comparePlans(one.plan, completed) === 0);
    const { stamp } = plan?.basis ?? {};
    if (stamp === undefined) return;
    for (const [index, message] of this.#changes.entries())
      if (message?.kind === 'change' && compareStamps(message.stamp, stamp) <= 0) this.#applyRecord(index);
  }

  #applyPlan(plan: PlannedMutations): void {
    const { controller } = plan;
    const last = this.#last.get(controller);
    this.#now = Math.max(this.#now, plan.decidedAt);
    if (last === undefined || comparePlans(plan.plan, last) > 0) {
      this.#last.set(controller, plan.plan);
      evolve(this.#state, plan, this.#now, this.#settings);
    } else if (this.#state.controller(controller).inFlight?.message.plan.number === plan.plan.number)
      evolve(this.#state, { kind: 'redelivered', controller }, this.#now, this.#settings);
  }
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
  const { complete, open } = state.snapshot;
  if (!complete || open !== null) return;
  for (const controller of decisionOrder) {
    const { inFlight, retries, timers } = state.controller(controller);
    const at = wantsDecisionAt(timers);
    if (inFlight !== null || at === null || at > until || (retries.parked !== null && at > now)) continue;
    const nextPlan = { epoch: 0, number: 0 };
    const decision = decide(state, controller, Math.max(at, now), { settings, nextPlan });
    if (decision?.kind === 'unchanged') evolve(state, decision, now, settings);
  }
}
