import { controllers, decisionOrder, type ReadResource, readersOf } from '@sluice/controllers';
import { type Causes, mergeCauses, noCauses } from '@sluice/messages';
import type { Controller } from '@sluice/model';
import { type ControllerState, requestDecision, type Timers } from './controller-state.ts';
import type { ServiceState } from './service-state.ts';
import type { Settings } from './settings.ts';
import { unpublishedUntil } from './tombstones.ts';

/**
 * When a controller next has to act for the Service: publish its plan in flight again, or decide. Null until a message
 * arrives. This is the only definition of "due"; everything else only writes the fields it reads. Milliseconds since the
 * Unix epoch.
 */
export function dueAt(state: ServiceState, controller: Controller): number | null {
  const controllerState = state.controller(controller);
  if (controllerState.inFlight !== null) return controllerState.inFlight.redeliverAt;
  return isComplete(state) ? wantsDecisionAt(controllerState.timers) : null;
}

/**
 * Whether nothing more is awaited before a decision: without a complete snapshot an object may be missing, and its endpoints would be
 * removed (A9); without the rest of a batch, Endpoints that were created just before their Service was deleted.
 */
export function isComplete({ snapshot: { complete, open, partial } }: ServiceState): boolean {
  return complete && open === null && partial !== true;
}

/** The earliest `dueAt` of all controllers, or when a state that waits for nothing else may be dropped. */
export function nextDueAt(state: ServiceState, now: number): number | null {
  let next = isEmpty(state) ? keptUntil(state, now) : null;
  for (const controller of decisionOrder) {
    const at = dueAt(state, controller);
    if (at !== null && (next === null || at < next)) next = at;
  }
  return next;
}

export function isDue(state: ServiceState, controller: Controller, now: number): boolean {
  const at = dueAt(state, controller);
  return at !== null && at <= now;
}

/** When the controller would decide if nothing else were in the way: what a work queue calls the time of its key. */
export function wantsDecisionAt({ dueAt, topologyDueAt, cooldownUntil = 0, batch }: Timers): number | null {
  if (dueAt === null && topologyDueAt === undefined) return null;
  const at = Math.min(dueAt ?? Number.POSITIVE_INFINITY, topologyDueAt ?? Number.POSITIVE_INFINITY);
  const batchEndsAt = batch === undefined ? 0 : Math.min(batch.until, at + batch.maxWaitMs);
  return Math.max(at, cooldownUntil, batchEndsAt);
}

/**
 * Whether nothing is left of the Service, no plan is in flight and no decision is due, so that its state may be dropped.
 * The gap detector of the partition keeps a late Change from bringing it back. A watcher that is behind on what was deleted
 * publishes no snapshot, so its next digest needs the state.
 */
export function isDisposable(state: ServiceState, now: number): boolean {
  const { orphaned, snapshot } = state;
  if (!isEmpty(state) || snapshot.open || snapshot.partial || keptUntil(state, now) !== null) return false;
  // Endpoints that have not been published yet would not be deleted.
  if (orphaned && !snapshot.complete) return false;
  return decisionOrder.every((controller) => {
    const { inFlight, retries, timers } = state.controller(controller);
    return inFlight === null && retries.parked === null && (!snapshot.complete || timers.dueAt === null);
  });
}

const isEmpty = ({ service, pods, slices, endpoints }: ServiceState): boolean =>
  !service?.service && !endpoints && pods.size === 0 && slices.size === 0;

/** Until when a watcher may publish what was deleted; null: it does not any more. Without a snapshot one is awaited anyway. */
function keptUntil({ snapshot, tombstones }: ServiceState, now: number): number | null {
  const until = snapshot.complete ? unpublishedUntil(tombstones) : null;
  return until !== null && until > now ? until : null;
}

/** The controllers that have to decide because of one Change, and when. */
export class WorkSet {
  readonly #due = new Map<Controller, number>();
  /** Requests with a delay; also in `#due` unless an earlier one is. */
  readonly #delayed = new Map<Controller, number>();
  /** Requests because of zone ratios. */
  readonly #topologyAt = new Map<Controller, number>();
  /** Controllers whose objects another client modified or deleted. */
  readonly #repairs = new Set<Controller>();
  /** Requests for other controllers are ignored; null: none are. */
  only: ReadonlySet<Controller> | null = null;
  readonly now: number;

  constructor(now: number) {
    this.now = now;
  }

  add(controller: Controller, delayMs = 0): void {
    if (this.only?.has(controller) === false) return;
    setEarliest(this.#due, controller, this.now + delayMs);
    if (delayMs > 0) setEarliest(this.#delayed, controller, this.now + delayMs);
  }

  /** Requests a decision because the zone ratios changed. One that is requested already keeps its time. */
  addTopology(delayMs: number): void {
    if (delayMs === 0) return this.addReaders('nodes');
    for (const controller of readersOf('nodes'))
      if (this.only?.has(controller) !== false) this.#topologyAt.set(controller, this.now + delayMs);
  }

  repair(controller: Controller): void {
    if (this.only?.has(controller) !== false) this.#repairs.add(controller);
  }

  addAll(): void {
    for (const controller of controllers) this.add(controller);
  }

  /** `delayMs`: by controller. */
  addReaders(resource: ReadResource, delayMs: Readonly<Record<Controller, number>> = {}): void {
    for (const controller of readersOf(resource)) this.add(controller, delayMs[controller]);
  }

  /** The state of a controller with these requests; the same object if there are none. */
  applyTo(
    controller: Controller,
    state: ControllerState,
    causes: Causes,
    { policy, batchPeriodMs }: Settings,
  ): ControllerState {
    let next = state;
    // The causes count once, however many requests there are.
    const uncounted = () => (next === state ? causes : noCauses);
    for (const at of [this.#due.get(controller), this.#delayed.get(controller)]) {
      if (at !== undefined) next = requestDecision(next, at, uncounted(), this.now);
    }
    const topologyAt = this.#topologyAt.get(controller);
    if (topologyAt !== undefined) {
      const { topologyDueAt = topologyAt } = next.timers;
      next = { ...next, timers: { ...next.timers, topologyDueAt }, causes: mergeCauses(next.causes, uncounted()) };
    }
    if (!this.#repairs.has(controller)) return next;
    return policy.requestRepair(
      { controller, state: next, now: this.now },
      batchPeriodMs[controller] ?? 0,
      uncounted(),
    );
  }
}

function setEarliest(times: Map<Controller, number>, controller: Controller, at: number): void {
  times.set(controller, Math.min(times.get(controller) ?? Number.POSITIVE_INFINITY, at));
}
