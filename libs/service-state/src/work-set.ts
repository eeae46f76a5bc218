import { type Controller, controllers } from '@sluice/controllers';
import { type Causes, noCauses } from '@sluice/messages';
import { type ControllerState, requestDecision } from './controller-state.ts';
import type { Settings } from './settings.ts';

/** Which controllers have to decide again, and when. */
export class WorkSet {
  readonly due = new Map<Controller, number>();
  /** The same of those that are not wanted at once. */
  readonly later = new Map<Controller, number>();
  /** Because of what was done to the objects that the controller writes. */
  readonly repairs = new Set<Controller>();
  /** Others are not touched; null: all may be. */
  only: ReadonlySet<Controller> | null = null;
  readonly now: number;

  constructor(now: number) {
    this.now = now;
  }

  add(controller: Controller, delayMs = 0): void {
    if (this.only?.has(controller) === false) return;
    earliest(this.due, controller, this.now + delayMs);
    if (delayMs > 0) earliest(this.later, controller, this.now + delayMs);
  }

  repair(controller: Controller): void {
    if (this.only?.has(controller) !== false) this.repairs.add(controller);
  }

  all(): void {
    for (const controller of controllers) this.add(controller);
  }

  /** The state of a controller after all that; the same if there was nothing. */
  apply(
    controller: Controller,
    state: ControllerState,
    causes: Causes,
    { policy, batchPeriodMs }: Settings,
  ): ControllerState {
    let next = state;
    // However many times are asked for, the causes count once.
    const unsaid = () => (next === state ? causes : noCauses);
    for (const at of [this.due.get(controller), this.later.get(controller)]) {
      if (at !== undefined) next = requestDecision(next, at, unsaid(), this.now);
    }
    if (!this.repairs.has(controller)) return next;
    return policy.requestRepair({ controller, state: next, now: this.now }, batchPeriodMs[controller], unsaid());
  }
}

function earliest(times: Map<Controller, number>, controller: Controller, at: number): void {
  times.set(controller, Math.min(times.get(controller) ?? Number.POSITIVE_INFINITY, at));
}
