import type { Controller } from '@sluice/controllers';
import {
  type Change,
  comparePlans,
  type Message,
  noCauses,
  type Outcome,
  type PlanId,
  type PlannedMutations,
  type ServiceKey,
} from '@sluice/messages';
import { changeNews } from './change-news.ts';
import { type DescribedPlan, describeOutcome, describePlan, newsBeforeOutcome, withExisting } from './describe-plan.ts';
import { type CompareSlices, endpointChanges, skipComparison } from './endpoint-changes.ts';
import type { DecidedEntry, Entry, SeenEntry } from './entry.ts';
import { HistoryState } from './history-state.ts';
import { type KeptRecord, read } from './kept-record.ts';
import { restoreOwnWrites } from './own-writes.ts';

/** Records of one Service, each topic in the order of its log. */
export interface KeptRecords {
  readonly changes: readonly KeptRecord[];
  readonly mutations: readonly KeptRecord[];
}

/**
 * Applies kept records to a state, one after the other, with the reconciler's `evolve`, and describes each as an entry.
 * The two topics are read separately, so a plan takes its place by the time of its decision, and at the latest before its
 * Outcome.
 */
export class Replay {
  readonly state: HistoryState;
  readonly #compare: CompareSlices;
  /** A plan arrived after its Outcome had been applied; a replay from the beginning shows more. */
  isStale = false;
  /** How many records of each topic have been applied. */
  changes = 0;
  mutations = 0;
  #plan: { readonly index: number; readonly message: PlannedMutations | null } | undefined;
  /** Plans whose Outcome has not been applied yet, by name. */
  readonly #awaited: Map<string, DescribedPlan>;
  /** Names of plans whose Outcome was applied without the plan. */
  readonly #missed = new Set<string>();
  /** The last plan of each controller whose Outcome was applied: a redelivery of it is no news. */
  readonly #completed: Map<Controller, PlanId>;

  /** `isRead: false` skips what only entries need. */
  constructor(key: ServiceKey, from?: Replay, { isRead = true }: { readonly isRead?: boolean } = {}) {
    this.#compare = isRead ? endpointChanges : skipComparison;
    this.state = from?.state.copy() ?? HistoryState.initial(key);
    this.#awaited = new Map(from === undefined ? [] : from.#awaited);
    this.#completed = new Map(from === undefined ? [] : from.#completed);
  }

  /** Applies the next record and returns its entries, none if it was no news; null if there is no next record. */
  next(records: KeptRecords): readonly Entry[] | null {
    const change = records.changes[this.changes];
    const plan = this.#nextPlan(records);
    if (change === undefined) return plan === undefined ? null : this.#takePlan(records);
    const message = read(change);
    if (plan && message && comesFirst(plan, message)) return this.#takePlan(records);
    if (plan === null) this.mutations++;
    this.changes++;
    return message ? this.#apply(message, change) : [];
  }

  #apply(message: Message, record: KeptRecord): readonly Entry[] {
    switch (message.kind) {
      case 'change':
        return this.#applyChange(message, record).map((entry) => withTrace(entry, record));
      case 'outcome':
        return this.#applyOutcome(message, record);
      default:
        return [];
    }
  }

  #applyChange(kept: Change, { ownWrites = [] }: KeptRecord): readonly SeenEntry[] {
    const { state } = this;
    const change = restoreOwnWrites(kept, ownWrites, state.state);
    const at = change.causes.first[0]?.observedAt ?? state.seenAt;
    const changes = state.evolve(change, at);
    if (changes.length === 0) return [];
    state.seenAt = Math.max(state.seenAt, at);
    const isOwn = ({ kind, name }: (typeof changes)[number]) =>
      (kind === 'slice' || kind === 'endpoints') && ownWrites.includes(name);
    const news = changeNews(
      state.state,
      change,
      changes.filter((one) => !isOwn(one)),
    );
    return news.length > 0 ? [{ kind: 'seen', at, news, causes: change.causes }] : [];
  }

  #applyOutcome(outcome: Outcome, record: KeptRecord): readonly Entry[] {
    const { state } = this;
    const name = planName(outcome);
    const described = this.#awaited.get(name);
    if (described === undefined) this.#missed.add(name);
    this.#awaited.delete(name);
    if (described !== undefined) this.#completed.set(outcome.controller, outcome.plan);
    const { controller, status, message, completedAt: at } = outcome;
    const news = newsBeforeOutcome(state, outcome);
    state.evolve(outcome, at);
    state.seenAt = Math.max(state.seenAt, at);
    if (status === 'rejected') state.refused.set(controller, { message, since: at });
    if (status === 'applied') {
      state.refused.delete(controller);
      state.appliedAt = Math.max(state.appliedAt, at);
    }
    const done = withTrace(describeOutcome(outcome, described, this.#compare), record);
    return news.length === 0 ? [done] : [done, { kind: 'seen', at: state.seenAt, news, causes: noCauses }];
  }

  /** The next plan of its topic; null if that record is not one. */
  #nextPlan({ mutations }: KeptRecords): PlannedMutations | null | undefined {
    const record = mutations[this.mutations];
    if (record === undefined) return undefined;
    if (this.#plan?.index !== this.mutations) {
      const message = read(record);
      this.#plan = { index: this.mutations, message: message?.kind === 'mutations' ? message : null };
    }
    return this.#plan.message;
  }

  #takePlan(records: KeptRecords): readonly DecidedEntry[] {
    const { state } = this;
    const plan = this.#nextPlan(records);
    const record = records.mutations[this.mutations++];
    if (!plan || record === undefined) return [];
    const name = planName(plan);
    if (this.#missed.has(name)) this.isStale = true;
    if (this.#awaited.has(name) || this.#missed.has(name)) return [];
    const completed = this.#completed.get(plan.controller);
    if (completed !== undefined && comparePlans(plan.plan, completed) <= 0) return [];
    const described = withExisting(state, plan);
    this.#awaited.set(name, described);
    state.evolve(plan, plan.decidedAt);
    for (const { reason, message } of plan.events) {
      if (reason.startsWith('TopologyAwareHints')) state.hints = { reason, message, at: plan.decidedAt };
    }
    return [withTrace(describePlan(described, this.#compare), record)];
  }
}

function comesFirst(plan: PlannedMutations, message: Message): boolean {
  if (message.kind === 'outcome') return plan.decidedAt <= message.completedAt || planName(plan) === planName(message);
  const at = message.kind === 'change' ? message.causes.first[0]?.observedAt : undefined;
  return at !== undefined && plan.decidedAt < at;
}

const planName = ({ controller, plan }: Pick<PlannedMutations, 'controller' | 'plan'>): string =>
  `${controller}/${plan.epoch}/${plan.number}`;

function withTrace<E extends Entry>(entry: E, { traceparent }: KeptRecord): E {
  return traceparent === undefined ? entry : { ...entry, traceparent };
}
