import { controllers, type ReadResource, readersOf } from '@sluice/controllers';
import { type Causes, mergeCauses, noCauses } from '@sluice/messages';
import type { Controller } from '@sluice/model';
import { type ControllerState, requestDecision } from './controller-state.ts';
import type { Settings } from './settings.ts';

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
