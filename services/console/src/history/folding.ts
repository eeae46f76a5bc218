import type { Message, PlannedMutations, ServiceKey } from '@sluice/messages';
import { type CompareSlices, endpointChanges, leftUntold } from './endpoint-changes.ts';
import type { Entry } from './entry.ts';
import { foldChange, foldEchoes } from './fold-change.ts';
import { describePlan, foldOutcome } from './fold-plan.ts';
import { type KeptRecord, read } from './kept-record.ts';
import { ServiceState } from './service-state.ts';

/** Records of one Service, each topic in the order of the log. */
export interface KeptRecords {
  readonly changes: readonly KeptRecord[];
  readonly mutations: readonly KeptRecord[];
}

/**
 * Folds kept records into states and entries, one after the other. The two topics are read apart from each other, so
 * plans come in where their time of decision belongs, and at the latest with their Outcome.
 */
export class Folding {
  readonly state: ServiceState;
  readonly #compare: CompareSlices;
  /** A plan came after its Outcome had been folded; folding again from the beginning tells more. */
  stale = false;
  /** How many records of each topic are folded. */
  changes = 0;
  mutations = 0;
  #plan: { readonly index: number; readonly message: PlannedMutations | null } | undefined;
  /** Plans whose Outcome is not folded yet, by name. */
  readonly #awaited: Map<string, PlannedMutations>;
  /** Of Outcomes that were folded without their plan. */
  readonly #missed = new Set<string>();

  /** Where nobody will read the entries, only what they need of `state` is worked out. */
  constructor(key: ServiceKey, from?: Folding, { isRead = true }: { readonly isRead?: boolean } = {}) {
    this.#compare = isRead ? endpointChanges : leftUntold;
    this.state = from?.state.copy() ?? new ServiceState(key);
    this.#awaited = new Map(from === undefined ? [] : from.#awaited);
  }

  /** Folds the next record and returns what it means, undefined if it is no news; null if there is no next record. */
  next(records: KeptRecords): Entry | undefined | null {
    const change = records.changes[this.changes];
    const plan = this.#nextPlan(records);
    if (change === undefined) return plan === undefined ? null : this.#takePlan(records);
    const message = read(change);
    if (plan && message && comesFirst(plan, message)) return this.#takePlan(records);
    if (plan === null) this.mutations++;
    this.changes++;
    const entry = message ? this.#fold(message) : undefined;
    return entry && withTrace(entry, change);
  }

  /** What the last folded Outcome left to be told of slices; undefined if nothing. */
  afterOutcome(at: number): Entry | undefined {
    const { echoes, endpointsEcho } = this.state;
    return echoes.size > 0 || endpointsEcho !== null ? foldEchoes(this.state, at) : undefined;
  }

  #fold(message: Message): Entry | undefined {
    if (message.kind === 'change') return foldChange(this.state, message);
    if (message.kind !== 'outcome') return undefined;
    const name = planName(message);
    const plan = this.#awaited.get(name);
    if (plan === undefined) this.#missed.add(name);
    this.#awaited.delete(name);
    return foldOutcome(this.state, message, plan, this.#compare);
  }

  /** The plan that is next in its log; null if that record is not one. */
  #nextPlan({ mutations }: KeptRecords): PlannedMutations | null | undefined {
    const record = mutations[this.mutations];
    if (record === undefined) return undefined;
    if (this.#plan?.index !== this.mutations) {
      const message = read(record);
      this.#plan = { index: this.mutations, message: message?.kind === 'mutations' ? message : null };
    }
    return this.#plan.message;
  }

  #takePlan(records: KeptRecords): Entry | undefined {
    const plan = this.#nextPlan(records);
    const record = records.mutations[this.mutations++];
    if (!plan || record === undefined) return undefined;
    const name = planName(plan);
    if (this.#missed.has(name)) this.stale = true;
    if (this.#awaited.has(name) || this.#missed.has(name)) return undefined;
    this.#awaited.set(name, plan);
    return withTrace(describePlan(this.state, plan, this.#compare), record);
  }
}

function comesFirst(plan: PlannedMutations, message: Message): boolean {
  if (message.kind === 'outcome') return plan.decidedAt <= message.completedAt || planName(plan) === planName(message);
  const at = message.kind === 'change' ? message.causes.first[0]?.observedAt : undefined;
  return at !== undefined && plan.decidedAt < at;
}

const planName = ({ controller, plan }: Pick<PlannedMutations, 'controller' | 'plan'>): string =>
  `${controller}/${plan.epoch}/${plan.number}`;

function withTrace(entry: Entry, { traceparent }: KeptRecord): Entry {
  return traceparent === undefined ? entry : { ...entry, traceparent };
}
