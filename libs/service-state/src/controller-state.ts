import {
  type CountedSlices,
  endpointSliceTracker,
  type ServiceHints,
  type TrackedSlices,
  type TriggerTimes,
} from '@sluice/controllers';
import {
  type Causes,
  mergeCauses,
  noCauses,
  type PlanId,
  type PlannedMutations,
  type TraceContext,
} from '@sluice/messages';
import type { BatchState } from './adaptive-batch.ts';

/** When to decide. */
export interface Timers {
  /** When to decide next; null: nothing has happened since the last decision. */
  readonly dueAt: number | null;
  /** The earliest decision that was requested with a delay, a retry for example (B2). Meaningless once it has passed. */
  readonly delayedUntil: number | null;
  /** Earliest time of the next decision after a large or slow write. */
  readonly cooldownUntil?: number | undefined;
  /** When to decide because the zone ratios of the Nodes changed, unless `dueAt` is earlier; absent: they did not. */
  readonly topologyDueAt?: number | undefined;
  /** Absent unless changes are batched adaptively. */
  readonly batch?: BatchState | undefined;
}

/** What failed since the last plan that succeeded. */
export interface Retries {
  /** Consecutive failed attempts; determines the backoff. */
  readonly failures: number;
  /** Delay of the last failed plan's retry by the writer's limit of retries, in milliseconds; absent: none. */
  readonly retryAfterMs?: number | undefined;
  /** Whether a guard held the last failed plan back; absent: none has failed, or a former version does not say. */
  readonly heldBack?: boolean | undefined;
  /** Why the key is parked; null: it is not. A parked key waits for a change, a resync or the slow retry. */
  readonly parked: string | null;
  /** When the key was first parked without success since; null: the last plan succeeded. */
  readonly parkedSince: number | null;
}

/** What other clients wrote, and how often it was repaired. */
export interface Repairs {
  /** When the last repair was made or, if one is requested, is due: a decision because another client modified what is written. */
  readonly repairAt: number | null;
  /** The next decision is a repair. */
  readonly repairing: boolean;
  /** Consecutive plans that were repairs. */
  readonly count: number;
  /** Writes of other clients to the slices of this controller; absent: none is known. */
  readonly foreignWrites?: ForeignWrites;
}

/** What operators and watchers have requested. */
export interface Requests {
  /** An operator has released the next plan from the guards against mass removals and additions. */
  readonly released?: true;
  /** A requested compaction of the slices, until the next decision that has nothing else to write. */
  readonly compaction?: {
    readonly maxWrites: number;
    readonly onlyWorthwhile: boolean;
    readonly expiresAt: number;
  };
}

/** Upstream's trackers, and what the last decision counted. */
export interface Trackers {
  readonly triggers: TriggerTimes | null;
  readonly hints: ServiceHints | null;
  /** Generations of the slices that this controller wrote (C19). */
  readonly tracked: TrackedSlices;
  /** What the last decision counted (I1); null: this controller does not handle the Service. */
  readonly counted: CountedSlices | null;
}

/** The state of one controller for one Service. Replaced, never modified. All times in milliseconds since the Unix epoch. */
export interface ControllerState {
  readonly timers: Timers;
  readonly retries: Retries;
  readonly repairs: Repairs;
  readonly requests: Requests;
  readonly trackers: Trackers;
  /** Causes collected since the last decision. */
  readonly causes: Causes;
  /** The one plan whose Outcome is pending. */
  readonly inFlight: InFlight | null;
  /**
   * The plan after which the next slices to be created are named, because its requests to create slices may still arrive
   * (ADR 0015); absent: the next plan itself.
   */
  readonly unconfirmedCreates?: UnconfirmedCreates | undefined;
}

/** The plan that gives slices their names. */
export interface UnconfirmedCreates extends PlanId {
  /** Names that turned out to belong to other slices, of another Service for example. */
  readonly taken?: readonly string[];
}

/** Writes of other clients to a controller's slices, proven by their generations. */
interface ForeignWrites {
  /** Since the state exists. */
  readonly count: number;
  /** Name of the last slice, and when its write was noticed, in milliseconds since the Unix epoch. */
  readonly slice: string;
  readonly at: number;
  /** The next repair is the first since. */
  readonly unrepaired: boolean;
}

/** A plan whose Outcome is pending. */
export interface InFlight {
  readonly message: PlannedMutations;
  /** Trackers to keep if the plan succeeds, so a failed plan loses no trigger time (B11, D18). */
  readonly triggersAfter: TriggerTimes | null;
  readonly hintsAfter: ServiceHints | null;
  /** resourceVersion by name of written objects that the watch delivered before the Outcome: probably the plan's own writes. */
  readonly watchEchoes: Readonly<Record<string, string>>;
  /** When to publish the plan again in case it or its Outcome was lost. */
  readonly redeliverAt: number;
  /** How often it has been published again. */
  readonly redeliveries: number;
  /** Trace context of the plan's message. */
  readonly trace?: TraceContext;
}

export const initialControllerState: ControllerState = {
  timers: { dueAt: null, delayedUntil: null },
  retries: { failures: 0, parked: null, parkedSince: null },
  repairs: { repairAt: null, repairing: false, count: 0 },
  requests: {},
  trackers: { triggers: null, hints: null, tracked: endpointSliceTracker.noTrackedSlices, counted: null },
  causes: noCauses,
  inFlight: null,
};

/** `delayedUntil` if it is in the future, else infinity. */
export const pendingDelay = ({ delayedUntil }: Timers, now: number): number =>
  delayedUntil !== null && delayedUntil > now ? delayedUntil : Number.POSITIVE_INFINITY;

/** Requests a decision at `at` or earlier. A parked key becomes active again. */
export function requestDecision(state: ControllerState, at: number, causes: Causes, now: number): ControllerState {
  const { timers, retries } = state;
  const isParked = retries.parked !== null;
  return {
    ...state,
    timers: {
      ...timers,
      dueAt: isParked || timers.dueAt === null ? at : Math.min(timers.dueAt, at),
      delayedUntil: at > now ? Math.min(pendingDelay(timers, now), at) : timers.delayedUntil,
    },
    retries: isParked ? { ...retries, parked: null } : retries,
    causes: mergeCauses(state.causes, causes),
  };
}

/** Minimum time between two repairs (E4), in milliseconds. */
const minRepairIntervalMs = 1_000;
/** This many consecutive repairs keep that pace. After them, another controller is assumed, and the interval doubles. */
export const freeRepairs = 5;
const maxRepairIntervalMs = 60_000;
/** After this much time without a repair the count starts again. */
const resetAfterMs = 10 * 60_000;

/**
 * Requests a decision at `at` because another client modified or deleted what this controller writes. The first repair
 * happens at once, later ones are paced: another controller may undo each of them, or the garbage collector may delete a
 * slice as often as it is created because its deleted owner is not known yet. Other decisions are not delayed.
 */
export function requestRepair(state: ControllerState, at: number, causes: Causes, now: number): ControllerState {
  const { repairs, retries, timers } = state;
  const repairAt = notBefore(repairs, at);
  const isRequested = retries.parked === null && timers.dueAt !== null && timers.dueAt <= repairAt;
  const paced = { repairAt, count: isCalm(repairs, at) ? 0 : repairs.count };
  const requested = requestDecision(state, repairAt, causes, now);
  return { ...requested, repairs: { ...repairs, repairing: true, ...(!isRequested && paced) } };
}

/** The repair of what another client wrote while a plan was in flight. */
export function repairAfterOutcome(state: ControllerState, now: number): ControllerState {
  const { repairs, timers } = state;
  const repairAt = repairs.count < freeRepairs ? now : notBefore(repairs, now);
  return {
    ...state,
    timers: { ...timers, dueAt: Math.min(repairAt, timers.dueAt ?? repairAt) },
    repairs: { ...repairs, repairAt, repairing: true },
  };
}

/**
 * Whether the controller repairs what a mutating webhook made of its write. The webhook may change every write, so a few
 * repairs in a row are the last ones; the next decision for another reason tries again.
 */
export const repairsAdmission = ({ repairs }: ControllerState, now: number): boolean =>
  repairs.count < freeRepairs || isCalm(repairs, now);

const isCalm = ({ repairAt }: Repairs, at: number): boolean => repairAt !== null && at - repairAt > resetAfterMs;

/** Counts a decision at `now`. `isWrite`: it led to a write. */
export function afterDecision(repairs: Repairs, isWrite: boolean, now: number): Repairs {
  const { count, repairing, repairAt, foreignWrites } = repairs;
  return {
    ...repairs,
    count: repairing && isWrite ? count + 1 : count,
    repairing: false,
    // A decision for another reason repairs as well, so the next interval begins with it.
    repairAt: repairAt === null ? null : Math.min(repairAt, now),
    ...(foreignWrites?.unrepaired && { foreignWrites: { ...foreignWrites, unrepaired: false } }),
  };
}

function notBefore({ repairAt, count }: Repairs, at: number): number {
  if (repairAt === null) return at;
  return Math.max(at, repairAt + repairIntervalMs(count));
}

/** Minimum time between two repairs after this many in a row, in milliseconds. */
export function repairIntervalMs(repairs: number): number {
  return Math.min(maxRepairIntervalMs, minRepairIntervalMs * 2 ** Math.max(0, repairs - freeRepairs));
}

/** Longer than a writer without a backlog takes. */
const firstRedeliveryMs = 5_000;
const longestRedeliveryMs = 600_000;

/** How long a plan waits for its Outcome after this many redeliveries. */
export function maxRedeliveryMs(redeliveries: number): number {
  return Math.min(longestRedeliveryMs, firstRedeliveryMs * 2 ** redeliveries);
}

/** When to publish a plan again that was last published at `now`, and again `redeliveries` times before. */
export function redeliverAt(now: number, redeliveries: number): number {
  return now + maxRedeliveryMs(redeliveries);
}

/**
 * The plan in flight is published again, unchanged. A writer that is applying it publishes one Outcome for both; one that
 * has completed it answers with a conflict, and the reconciler decides again.
 */
export function redelivered(state: ControllerState, now: number): ControllerState {
  const { inFlight } = state;
  if (inFlight === null) return state;
  // Reachable: plan redelivered
  const redeliveries = inFlight.redeliveries + 1;
  return { ...state, inFlight: { ...inFlight, redeliveries, redeliverAt: redeliverAt(now, redeliveries) } };
}
