import {
  type ClusterRemoved,
  comparePlans,
  compareStamps,
  type Message,
  type Outcome,
  type PlannedMutations,
} from '@sluice/messages';
import { isBasisReached } from './reconcile.ts';
import type { ServiceState } from './service-state.ts';

/** Records of one Service, each topic in log order. More may be appended while they are merged. */
export interface LogTopics<R> {
  readonly changes: readonly R[];
  readonly mutations: readonly R[];
}

interface MergedRecord<R> {
  readonly record: R;
  /** Undefined if it is malformed. */
  readonly message: Message | undefined;
  /** The plan that follows, if the log has it already. */
  readonly nextPlan: PlannedMutations | undefined;
}

/**
 * Merges the two topics of a Service in the order in which its reconciler applied them: a plan follows the state on which it
 * was decided (`PlanBasis`) and precedes its Outcome. A worker applies its own records before the log has them, so the log may
 * have an Outcome before the Changes on which its plan was decided; these are then returned first.
 */
export class LogMerge<R> {
  /** Number of records of each topic that are merged, except for later Changes that were returned first. */
  changes = 0;
  mutations = 0;
  readonly #read: (record: R) => Message | undefined;
  /** Positions of Changes that were returned first. */
  readonly #early = new Set<number>();
  #plan: { readonly position: number; readonly message: PlannedMutations | undefined } | undefined;

  constructor(read: (record: R) => Message | undefined) {
    this.#read = read;
  }

  /** The record that follows `state`, to which all records before it were applied; undefined at the end of the log. */
  next(state: ServiceState, topics: LogTopics<R>): MergedRecord<R> | undefined {
    while (this.#early.delete(this.changes)) this.changes++;
    const record = topics.changes[this.changes];
    const planned = topics.mutations[this.mutations];
    const plan = planned === undefined ? undefined : this.#planOf(planned);
    const message = record === undefined ? undefined : this.#changeOf(record);
    if (planned !== undefined) {
      if (plan === undefined || record === undefined) return this.#nextPlan(planned, plan);
      const early = message?.kind === 'outcome' ? this.#missingChange(state, plan, message, topics) : undefined;
      if (early !== undefined) return { ...early, nextPlan: plan };
      if (message !== undefined && comesFirst(state, plan, message)) return this.#nextPlan(planned, plan);
    }
    if (record === undefined) return undefined;
    this.changes++;
    return { record, message, nextPlan: plan };
  }

  #changeOf(record: R): Message | undefined {
    const message = this.#read(record);
    return message?.kind === 'mutations' ? undefined : message;
  }

  #planOf(record: R): PlannedMutations | undefined {
    if (this.#plan?.position !== this.mutations) {
      const message = this.#read(record);
      this.#plan = { position: this.mutations, message: message?.kind === 'mutations' ? message : undefined };
    }
    return this.#plan.message;
  }

  #nextPlan(record: R, message: PlannedMutations | undefined): MergedRecord<R> {
    this.mutations++;
    return { record, message, nextPlan: message };
  }

  /** A Change on which a plan was decided and that the log has after an Outcome that follows the plan. */
  #missingChange(state: ServiceState, plan: PlannedMutations, outcome: Outcome, { changes }: LogTopics<R>) {
    const stamp = plan.basis?.stamp;
    if (stamp === undefined || compareStamps(state.snapshot.stamp, stamp) >= 0) return undefined;
    if (!precedes(plan, outcome)) return undefined;
    for (let position = this.changes + 1; position < changes.length; position++) {
      const record = changes[position];
      if (record === undefined || this.#early.has(position)) continue;
      const message = this.#read(record);
      if (message?.kind !== 'change' || compareStamps(message.stamp, stamp) > 0) continue;
      this.#early.add(position);
      return { record, message };
    }
    return undefined;
  }
}

function comesFirst(state: ServiceState, plan: PlannedMutations, message: Message): boolean {
  if (message.kind === 'clusterRemoved') return isBeforeRemoval(plan, message);
  if (message.kind === 'outcome' && precedes(plan, message)) return true;
  return isBasisReached(state, plan) ?? isDecidedBefore(plan, message);
}

/** Numbers follow the order of decisions, so whatever precedes a completed plan was decided as well. */
const precedes = ({ controller, plan }: PlannedMutations, outcome: Outcome): boolean => {
  const order = comparePlans(plan, outcome.plan);
  return order < 0 || (order === 0 && controller === outcome.controller);
};

const isBeforeRemoval = ({ decidedAt }: PlannedMutations, { removedAt }: ClusterRemoved): boolean =>
  decidedAt <= (removedAt ?? decidedAt);

/** By the clocks of their senders, for plans that do not say on what they were decided. */
function isDecidedBefore({ decidedAt }: PlannedMutations, message: Message): boolean {
  if (message.kind === 'outcome') return decidedAt <= message.completedAt;
  const at = message.kind === 'change' ? message.causes.first[0]?.observedAt : undefined;
  return at !== undefined && decidedAt < at;
}
