import { isDeepStrictEqual } from 'node:util';
import { endpointsWriter } from '@sluice/controllers';
import {
  type Change,
  type ClusterRemoved,
  type CompactionRequest,
  comparePlans,
  type Message,
  noCauses,
  type Outcome,
  type PlanId,
  type PlannedMutations,
  type RemovalRelease,
  type ServiceKey,
} from '@sluice/messages';
import type { Controller } from '@sluice/model';
import {
  defaultSettings,
  isBasisReached,
  type ServiceMessage,
  type Settings,
  settingsOfPlan,
} from '@sluice/service-state';
import type { DecidedEntry, Entry, Observation, ObservedEntry } from '../view/entry-schemas.ts';
import { describeChange, isOtherWrite } from './describe-change.ts';
import { type DescribedPlan, describeOutcome, describePlan, otherWrites, withExisting } from './describe-plan.ts';
import { type CompareSlices, endpointChanges, skipComparison } from './endpoint-changes.ts';
import { HistoryState } from './history-state.ts';
import { messageOf, type RetainedRecord } from './retained-record.ts';

/** Records of one Service, by topic in log order. */
export interface RetainedRecords {
  readonly changes: readonly RetainedRecord[];
  readonly mutations: readonly RetainedRecord[];
}

interface ReplayOptions {
  readonly isRead?: boolean;
  readonly onMessage?: (message: LogMessage) => void;
}

/** A message that changes the history of a Service. */
export type LogMessage = ServiceMessage | ClusterRemoved;

/**
 * Applies records to a state with the reconciler's `evolve` and describes each as an entry. The two topics are read
 * separately, so plans are merged into the Changes where they were decided, at the latest before their Outcome.
 */
export class Replay {
  readonly state: HistoryState;
  /** Time of the last record that was applied, also of one without entries. */
  at = 0;
  readonly #compare: CompareSlices;
  readonly #onMessage: ((message: LogMessage) => void) | undefined;
  /** A plan arrived after its Outcome was applied, or with other settings; a replay from the start is more exact. */
  isStale = false;
  /** Those with which the last record was applied. */
  #settings: Settings;
  /** Number of applied records of each topic. */
  changes = 0;
  mutations = 0;
  #plan: { readonly index: number; readonly message: PlannedMutations | null } | undefined;
  /** Plans without an Outcome, by name. */
  readonly #awaited: Map<string, DescribedPlan>;
  /** Names of plans whose Outcome arrived first. */
  readonly #missed = new Set<string>();
  /** The last plan of each controller with an Outcome; redeliveries of it are ignored. */
  readonly #completed: Map<Controller, PlanId>;

  /** `isRead: false` skips work that only entries need. `onMessage` gets each message before it is applied. */
  constructor(key: ServiceKey, from?: Replay, { isRead = true, onMessage }: ReplayOptions = {}) {
    this.#onMessage = onMessage;
    this.#compare = isRead ? endpointChanges : skipComparison;
    this.state = from?.state.copy() ?? HistoryState.initial(key);
    this.#settings = from === undefined ? defaultSettings : from.#settings;
    this.#awaited = new Map(from === undefined ? [] : from.#awaited);
    this.#completed = new Map(from === undefined ? [] : from.#completed);
  }

  /** Applies the next record and returns its entries, none if it changed nothing; null at the end. */
  next(records: RetainedRecords): readonly Entry[] | null {
    const change = records.changes[this.changes];
    const plan = this.#nextPlan(records);
    if (change === undefined) return plan === undefined ? null : this.#applyPlan(records);
    const message = messageOf(change);
    if (plan && message && this.#comesFirst(plan, message)) return this.#applyPlan(records);
    if (plan === null) this.mutations++;
    // A record is applied with the settings of the plan that follows it.
    if (plan) this.#settings = settingsOfPlan(plan, defaultSettings);
    this.changes++;
    return message ? this.#apply(message, change) : [];
  }

  /** The state at that time, to which no later record was applied. */
  stateAt(at: number): HistoryState {
    this.state.decideUnchanged(at, this.#settings);
    return this.state;
  }

  #comesFirst(plan: PlannedMutations, message: Message): boolean {
    if (message.kind === 'clusterRemoved') return plan.decidedAt <= (message.removedAt ?? plan.decidedAt);
    // Numbers follow the order of decisions, so whatever precedes a completed plan was decided as well.
    if (
      message.kind === 'outcome' &&
      (planName(plan) === planName(message) || comparePlans(plan.plan, message.plan) < 0)
    )
      return true;
    return isBasisReached(this.state.state, plan) ?? isDecidedBefore(plan, message);
  }

  #apply(message: Message, record: RetainedRecord): readonly Entry[] {
    switch (message.kind) {
      case 'change':
        return this.#applyChange(message).map((entry) => withTrace(entry, record));
      case 'outcome':
        return this.#applyOutcome(message, record);
      case 'clusterRemoved':
        return this.#applyRemoval(message);
      case 'compaction':
        return this.#applyRequest(message, message.requestedAt);
      case 'release':
        return this.#applyRequest(message, message.releasedAt);
      default:
        return [];
    }
  }

  #applyChange(change: Change): readonly ObservedEntry[] {
    const { state } = this;
    const at = change.causes.first[0]?.observedAt ?? state.lastEventAt;
    this.at = at;
    this.#onMessage?.(change);
    const changes = state.evolve(change, at, this.#settings);
    state.remember(change.facts);
    state.dropOldRefusals();
    if (changes.length === 0) return [];
    state.lastEventAt = Math.max(state.lastEventAt, at);
    const observations = describeChange(state.state, change, changes);
    state.otherWrites = latestWrites(state.otherWrites, observations);
    return observations.length > 0 ? [{ kind: 'observed', at, observations, causes: change.causes }] : [];
  }

  #applyRequest(message: CompactionRequest | RemovalRelease, at: number): readonly Entry[] {
    this.at = at;
    this.#onMessage?.(message);
    this.state.evolve(message, at, this.#settings);
    return [];
  }

  /** Does what the reconciler does: what a later watcher has published stays. */
  #applyRemoval(removal: ClusterRemoved): readonly ObservedEntry[] {
    const { state } = this;
    const { epoch, removedAt } = removal;
    if (state.state.snapshot.stamp.epoch > epoch) return [];
    this.#onMessage?.(removal);
    const { isEmpty } = state;
    const at = removedAt ?? state.lastEventAt;
    this.at = at;
    state.discard();
    state.lastEventAt = Math.max(state.lastEventAt, at);
    if (isEmpty) return [];
    return [{ kind: 'observed', at, observations: [clusterRemoved], causes: noCauses }];
  }

  #applyOutcome(outcome: Outcome, record: RetainedRecord): readonly Entry[] {
    const { state } = this;
    const name = planName(outcome);
    const described = this.#awaited.get(name);
    if (described === undefined) this.#missed.add(name);
    this.#awaited.delete(name);
    if (described !== undefined) this.#completed.set(outcome.controller, outcome.plan);
    const { controller, status, message, completedAt: at } = outcome;
    this.at = at;
    this.#onMessage?.(outcome);
    const observations = otherWrites(state, outcome);
    state.evolve(outcome, at, this.#settings);
    state.lastEventAt = Math.max(state.lastEventAt, at);
    if (status === 'rejected') state.refused.set(controller, { message, since: at });
    if (status === 'applied') state.refused.delete(controller);
    const completed = withTrace(describeOutcome(outcome, described, this.#compare), record);
    if (observations.length === 0) return [completed];
    state.otherWrites = latestWrites(state.otherWrites, observations);
    return [completed, { kind: 'observed', at: state.lastEventAt, observations, causes: noCauses }];
  }

  /** The next plan; null if the record is malformed, undefined at the end. */
  #nextPlan({ mutations }: RetainedRecords): PlannedMutations | null | undefined {
    const record = mutations[this.mutations];
    if (record === undefined) return undefined;
    if (this.#plan?.index !== this.mutations) {
      const message = messageOf(record);
      this.#plan = { index: this.mutations, message: message?.kind === 'mutations' ? message : null };
    }
    return this.#plan.message;
  }

  #applyPlan(records: RetainedRecords): readonly DecidedEntry[] {
    const { state } = this;
    const plan = this.#nextPlan(records);
    const record = records.mutations[this.mutations++];
    if (!plan || record === undefined) return [];
    this.at = plan.decidedAt;
    this.#onMessage?.(plan);
    const name = planName(plan);
    if (this.#missed.has(name)) this.isStale = true;
    if (this.#awaited.has(name) || this.#missed.has(name)) return [];
    const completed = this.#completed.get(plan.controller);
    if (completed !== undefined && comparePlans(plan.plan, completed) <= 0) return [];
    const described = withExisting(state, plan);
    this.#awaited.set(name, described);
    const settings = settingsOfPlan(plan, defaultSettings);
    if (!isDeepStrictEqual(settings, this.#settings)) this.isStale = true;
    this.#settings = settings;
    state.evolve(plan, plan.decidedAt, settings);
    state.repair = repairBy(plan, state.otherWrites) ?? state.repair;
    return [withTrace(describePlan(described, this.#compare), record)];
  }
}

const clusterRemoved = {
  of: 'cluster',
  name: '',
  text: 'was removed from the fleet or restored from a backup: what was known of it is discarded',
} as const;

/** Those of these observations that are writes of other clients; if there are none, those of before. */
function latestWrites(before: readonly Observation[], observations: readonly Observation[]): readonly Observation[] {
  const writes = observations.filter(isOtherWrite);
  return writes.length === 0 ? before : writes;
}

/**
 * What other clients wrote, if the plan repairs it: its causes name the object, or the reconciler has proof of a repair.
 * Null if it repairs nothing.
 */
function repairBy(plan: PlannedMutations, otherWrites: readonly Observation[]): HistoryState['repair'] {
  const [of, kind] = plan.controller === endpointsWriter ? ['endpoints', 'Endpoints'] : ['slice', 'EndpointSlice'];
  const isCause = ({ name }: Observation) =>
    plan.causes.first.some(({ description }) => description.startsWith(`${kind} ${plan.key.namespace}/${name} `));
  const objects = writtenNames(plan);
  const isProven = plan.consecutiveRepairs !== undefined;
  const writes = otherWrites.filter((write) => write.of === of && (isProven || isCause(write)));
  return isProven || (writes.length > 0 && objects.length > 0) ? { writes, objects, at: plan.decidedAt } : null;
}

const writtenNames = ({ groups }: PlannedMutations): readonly string[] =>
  groups.flatMap(({ mutations }) =>
    mutations.map((mutation) => (mutation.verb === 'delete' ? mutation.name : mutation.object.metadata.name)),
  );

/** By the clocks of their senders, for plans that do not tell on what they were decided. */
function isDecidedBefore(plan: PlannedMutations, message: Message): boolean {
  if (message.kind === 'outcome') return plan.decidedAt <= message.completedAt;
  const at = message.kind === 'change' ? message.causes.first[0]?.observedAt : undefined;
  return at !== undefined && plan.decidedAt < at;
}

const planName = ({ controller, plan }: Pick<PlannedMutations, 'controller' | 'plan'>): string =>
  `${controller}/${plan.epoch}/${plan.number}`;

function withTrace<E extends Entry>(entry: E, { traceparent }: RetainedRecord): E {
  return traceparent === undefined ? entry : { ...entry, traceparent };
}
