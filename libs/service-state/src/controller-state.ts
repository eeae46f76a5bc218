import {
  type CountedSlices,
  endpointSliceTracker,
  type ServiceHints,
  type TrackedSlices,
  type TriggerTimes,
} from '@sluice/controllers';
import { type Causes, mergeCauses, noCauses, type PlannedMutations, type TraceContext } from '@sluice/messages';

/** Where one controller stands with one Service. Replaced, never changed. */
export interface ControllerState {
  /** When to decide again, in milliseconds since the Unix epoch; null: nothing has come in since the last decision. */
  readonly dueAt: number | null;
  /** Not before this time, whatever is due: the last write was large enough for a while. */
  readonly cooldownUntil?: number;
  /** Why, gathered since the last decision. */
  readonly causes: Causes;
  /** The one plan whose Outcome is awaited. */
  readonly inFlight: InFlight | null;
  /** Tries in a row that came to nothing; drives the back-off. */
  readonly failures: number;
  /** The earliest of what was asked for later than at once, be it a retry (B2); of use only if it is yet to come. */
  readonly delayedUntil: number | null;
  /** For when a decision was last asked for only to put right what somebody else did to what is written. */
  readonly repairAt: number | null;
  /** The next decision is wanted for that. */
  readonly repairing: boolean;
  /** Plans in a row that were made for that. */
  readonly repairs: number;
  /** Why the key is given up for now: it waits for a change, a resync or the slow retry. */
  readonly parked: string | null;
  /** Since when it has been given up again and again, the tries in between included; null: it has not. */
  readonly parkedSince: number | null;
  /** A person lets the next plan remove what it likes. */
  readonly released?: true;
  readonly triggers: TriggerTimes | null;
  readonly hints: ServiceHints | null;
  /** Generations of the slices that this controller wrote (C19). */
  readonly tracked: TrackedSlices;
  /** What the last decision counted (I1); null: this controller has nothing to do with the Service. */
  readonly counted: CountedSlices | null;
}

export interface InFlight {
  readonly message: PlannedMutations;
  /** Trackers as they become if the plan succeeds; a failed one loses no trigger time (B11, D18). */
  readonly triggersAfter: TriggerTimes | null;
  readonly hintsAfter: ServiceHints | null;
  /** resourceVersions that the watch showed, by name, of objects that the plan writes: probably its own echo. */
  readonly watchEchoes: Readonly<Record<string, string>>;
  /** When to send it again, in case it or its Outcome was lost, in milliseconds since the Unix epoch. */
  readonly redeliverAt: number;
  /** How often it was sent again. */
  readonly redeliveries: number;
  /** Of the plan's message, each time it is sent. */
  readonly trace?: TraceContext;
}

export const initialControllerState: ControllerState = {
  dueAt: null,
  causes: noCauses,
  inFlight: null,
  failures: 0,
  delayedUntil: null,
  repairAt: null,
  repairing: false,
  repairs: 0,
  parked: null,
  parkedSince: null,
  triggers: null,
  hints: null,
  tracked: endpointSliceTracker.noTrackedSlices,
  counted: null,
};

/** When the controller decides again, what it waits for and its rest considered; null: not before something comes in. */
export const decidesAt = ({ dueAt, cooldownUntil = 0 }: ControllerState): number | null =>
  dueAt === null ? null : Math.max(dueAt, cooldownUntil);

/** The time of `delayedUntil` if it is still to come, else infinity. */
export const pendingDelay = ({ delayedUntil }: ControllerState, now: number): number =>
  delayedUntil !== null && delayedUntil > now ? delayedUntil : Number.POSITIVE_INFINITY;

/** Something came in: decide at `at`, or earlier if that is due already. What was parked gets another chance. */
export function requestDecision(state: ControllerState, at: number, causes: Causes, now: number): ControllerState {
  return {
    ...state,
    dueAt: state.parked !== null || state.dueAt === null ? at : Math.min(state.dueAt, at),
    delayedUntil: at > now ? Math.min(pendingDelay(state, now), at) : state.delayedUntil,
    causes: mergeCauses(state.causes, causes),
    parked: null,
  };
}
