import { isDeepStrictEqual } from 'node:util';
import { endpointsWriter } from '@sluice/controllers';
import {
  type Change,
  type ClusterRemoved,
  type CompactionRequest,
  comparePlans,
  compareStamps,
  type Message,
  noCauses,
  type Outcome,
  type PlannedMutations,
  type RemovalRelease,
  type ServiceKey,
  type Stamp,
} from '@sluice/messages';
import type { Controller } from '@sluice/model';
import {
  defaultSettings,
  LogMerge,
  type LogTopics,
  type ServiceMessage,
  type Settings,
  settingsOfPlan,
} from '@sluice/service-state';
import type { DecidedEntry, Entry, Observation, ObservedEntry, ObservedWrite } from '../view/entry-schemas.ts';
import { describeChange, isOtherWrite } from './describe-change.ts';
import { type DescribedPlan, describeOutcome, describePlan, otherWrites, withState } from './describe-plan.ts';
import { type CompareSlices, endpointChanges, skipComparison } from './endpoint-changes.ts';
import type { CompletedPlan } from './held-by.ts';
import { HistoryState } from './history-state.ts';
import { LastPlans } from './last-plans.ts';
import { messageOf, type RetainedRecord } from './retained-record.ts';
import { isUnansweredWrite, UnansweredWrites } from './unanswered-writes.ts';
import { WriteAttribution } from './write-attribution.ts';

interface ReplayOptions {
  /** False: skips work that only entries need. */
  readonly isRead?: boolean;
  /** Gets each message before it is applied. */
  readonly onMessage?: (message: LogMessage) => void;
  /**
   * Applies only the last plans, at `end`. For records that are dropped: their objects are as before, but not when each
   * controller decides next.
   */
  readonly onlyLastPlans?: boolean;
}

/** A message that changes the history of a Service. */
export type LogMessage = ServiceMessage | ClusterRemoved;

/**
 * Applies the merged records of a log to a state with the reconciler's `evolve` and describes each as an entry.
 */
export class Replay {
  readonly state: HistoryState;
  /** Time of the last record that was applied, also of one without entries. */
  at = 0;
  readonly #compare: CompareSlices;
  readonly #onMessage: ((message: LogMessage) => void) | undefined;
  /** A record arrived after one that it precedes, or a plan with other settings; a replay from the start is more exact. */
  isStale = false;
  /** Those with which the last record was applied. */
  #settings: Settings;
  readonly #merge = new LogMerge<RetainedRecord>(messageOf);
  /** That of the Changes on which a plan was decided that was applied without them. */
  #missing: Stamp | undefined;
  /** Plans without an Outcome, by name. */
  readonly #awaited: Map<string, DescribedPlan>;
  /** Names of plans whose Outcome arrived first. */
  readonly #missed = new Set<string>();
  /** The last plan of each controller with an Outcome; redeliveries of it are ignored. */
  readonly #completed: Map<Controller, CompletedPlan>;
  readonly #attribution: WriteAttribution;
  readonly #unanswered: UnansweredWrites;
  readonly #lastPlans: LastPlans | undefined;

  constructor(key: ServiceKey, from?: Replay, { isRead = true, onMessage, onlyLastPlans = false }: ReplayOptions = {}) {
    this.#onMessage = onMessage;
    this.#lastPlans = onlyLastPlans ? new LastPlans() : undefined;
    this.#compare = isRead ? endpointChanges : skipComparison;
    this.state = from?.state.copy() ?? HistoryState.initial(key);
    this.#settings = from === undefined ? defaultSettings : from.#settings;
    this.#awaited = new Map(from === undefined ? [] : from.#awaited);
    this.#completed = new Map(from === undefined ? [] : from.#completed);
    this.#attribution = from === undefined ? new WriteAttribution() : from.#attribution.copy();
    this.#unanswered = new UnansweredWrites(from === undefined ? undefined : from.#unanswered);
  }

  /** Number of applied records of each topic. */
  get changes(): number {
    return this.#merge.changes;
  }

  get mutations(): number {
    return this.#merge.mutations;
  }

  /** Applies the next record and returns its entries, none if it changed nothing; null at the end. */
  next(records: LogTopics<RetainedRecord>): readonly Entry[] | null {
    const next = this.#merge.next(this.state.state, records);
    if (next === undefined) return null;
    const { record, message, nextPlan } = next;
    if (message === undefined || this.#isPostponed(message, record)) return [];
    if (message.kind === 'mutations') return this.#applyPlan(message, record);
    // A record is applied with the settings of the plan that follows it.
    if (nextPlan) this.#settings = settingsOfPlan(nextPlan, defaultSettings);
    return this.#apply(message, record);
  }

  /** Applies what `onlyLastPlans` has postponed. */
  end(): void {
    for (const { plan, outcome, record } of this.#lastPlans?.all ?? []) {
      this.#applyPlan(plan, record);
      if (outcome !== undefined) this.#applyOutcome(outcome, record);
    }
    this.state.dropOldRefusals();
    this.#attribution.begin(this.state.state);
  }

  #isPostponed(message: Message, record: RetainedRecord): boolean {
    const plans = this.#lastPlans;
    if (plans === undefined) return false;
    if (message.kind === 'clusterRemoved') plans.clear();
    if (message.kind === 'outcome') return plans.addOutcome(message);
    if (message.kind !== 'mutations') return false;
    plans.addPlan(message, record);
    return true;
  }

  /** The state at that time, to which no later record was applied. */
  stateAt(at: number): HistoryState {
    this.state.decideUnchanged(at, this.#settings);
    return this.state;
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
    if (this.#missing !== undefined && compareStamps(change.stamp, this.#missing) <= 0) this.isStale = true;
    this.#onMessage?.(change);
    if (this.#lastPlans !== undefined) {
      state.evolveUndecided(change, at, this.#settings);
      state.remember(change.facts);
      state.lastEventAt = Math.max(state.lastEventAt, at);
      return [];
    }
    const changes = state.evolve(change, at, this.#settings);
    state.remember(change.facts);
    state.dropOldRefusals();
    if (changes.length === 0) return [];
    state.lastEventAt = Math.max(state.lastEventAt, at);
    const writes = this.#attribution.observe(state.state, change, changes);
    const described = describeChange(state.state, change, changes).map((one) => this.#unanswered.describe(one, state));
    state.otherWrites = latestWrites(state.otherWrites, described);
    const observations = described.map((one) =>
      isUnansweredWrite(one) ? one : withWrite(one, writes.get(`${one.of}/${one.name}`)),
    );
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
    const { controller, status, message, plan, causes, decidedAt, completedAt: at } = outcome;
    if (described !== undefined) {
      const { held } = described;
      this.#completed.set(controller, { plan, causes, status, decidedAt, completedAt: at, held });
    }
    this.at = at;
    this.#onMessage?.(outcome);
    if (described !== undefined) this.#unanswered.completed(described.plan, outcome);
    const observations = otherWrites(state, outcome).map((one) => this.#unanswered.describe(one, state));
    state.evolve(outcome, at, this.#settings);
    state.lastEventAt = Math.max(state.lastEventAt, at);
    if (status === 'rejected') state.refused.set(controller, { message, since: at });
    if (status === 'applied') state.refused.delete(controller);
    const completed = withTrace(describeOutcome(outcome, described, this.#compare), record);
    if (observations.length === 0) return [completed];
    state.otherWrites = latestWrites(state.otherWrites, observations);
    return [completed, { kind: 'observed', at: state.lastEventAt, observations, causes: noCauses }];
  }

  #applyPlan(plan: PlannedMutations, record: RetainedRecord): readonly DecidedEntry[] {
    const { state } = this;
    this.at = plan.decidedAt;
    this.#onMessage?.(plan);
    const name = planName(plan);
    if (this.#missed.has(name)) this.isStale = true;
    if (this.#awaited.has(name) || this.#missed.has(name)) return [];
    const completed = this.#completed.get(plan.controller);
    if (completed !== undefined && comparePlans(plan.plan, completed.plan) <= 0) return [];
    const settings = settingsOfPlan(plan, defaultSettings);
    const described = withState(state, plan, completed, settings);
    this.#awaited.set(name, described);
    if (!isDeepStrictEqual(settings, this.#settings)) this.isStale = true;
    this.#settings = settings;
    const { stamp } = plan.basis ?? {};
    if (stamp !== undefined && compareStamps(state.state.snapshot.stamp, stamp) < 0) this.#missing = stamp;
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

function withWrite(observation: Observation, write: ObservedWrite | undefined): Observation {
  if (write === undefined) return observation;
  const { of, text } = observation;
  if (write.verb !== 'create' || write.manager === null) return { ...observation, write };
  const created = `${of === 'endpoints' ? 'were' : 'was'} created by ${write.manager}`;
  return { ...observation, text: text.replace(/^exists?/, created), write };
}

/** Those of these observations that are writes of other clients; if there are none, those of before. */
function latestWrites(before: readonly Observation[], observations: readonly Observation[]): readonly Observation[] {
  const writes = observations.filter((one) => isOtherWrite(one) && !isUnansweredWrite(one));
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

const planName = ({ controller, plan }: Pick<PlannedMutations, 'controller' | 'plan'>): string =>
  `${controller}/${plan.epoch}/${plan.number}`;

function withTrace<E extends Entry>(entry: E, { traceparent }: RetainedRecord): E {
  return traceparent === undefined ? entry : { ...entry, traceparent };
}
