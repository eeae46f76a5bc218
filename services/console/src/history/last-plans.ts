import { comparePlans, type Outcome, type PlannedMutations } from '@sluice/messages';
import type { Mutation } from '@sluice/model';
import type { RetainedRecord } from './retained-record.ts';

interface Kept {
  readonly plan: PlannedMutations;
  outcome: Outcome | undefined;
  readonly record: RetainedRecord;
  /** Objects of which it is the last plan, and the controller while it is its last plan. */
  readonly lastOf: Set<string>;
}

/**
 * Of a series of plans and Outcomes, those that still have an effect: the last plan of each controller and of each object. The
 * others are superseded, and to decide them again costs as much as the reconciler.
 */
export class LastPlans {
  readonly #kept = new Map<string, Kept>();
  readonly #lastOf = new Map<string, Kept>();

  addPlan(plan: PlannedMutations, record: RetainedRecord): void {
    const name = nameOf(plan);
    // A redelivery.
    if (this.#kept.has(name)) return;
    const last = this.#lastOf.get(plan.controller);
    if (last !== undefined && comparePlans(plan.plan, last.plan.plan) <= 0) return;
    const kept: Kept = { plan, outcome: undefined, record, lastOf: new Set() };
    this.#kept.set(name, kept);
    const objects = plan.groups.flatMap(({ mutations }) => mutations.map(objectOf));
    for (const of of [plan.controller, ...objects]) this.#replace(of, kept);
  }

  /** False if its plan is not among the series. */
  addOutcome(outcome: Outcome): boolean {
    const last = this.#lastOf.get(outcome.controller);
    if (last === undefined) return false;
    const kept = this.#kept.get(nameOf(outcome));
    if (kept !== undefined) kept.outcome = outcome;
    return true;
  }

  /** In the order in which they were decided. */
  get all(): Iterable<Kept> {
    return this.#kept.values();
  }

  clear(): void {
    this.#kept.clear();
    this.#lastOf.clear();
  }

  #replace(of: string, kept: Kept): void {
    const former = this.#lastOf.get(of);
    former?.lastOf.delete(of);
    if (former?.lastOf.size === 0) this.#kept.delete(nameOf(former.plan));
    this.#lastOf.set(of, kept);
    kept.lastOf.add(of);
  }
}

const nameOf = ({ controller, plan }: Pick<PlannedMutations, 'controller' | 'plan'>): string =>
  `${controller}/${plan.epoch}/${plan.number}`;

const objectOf = (mutation: Mutation): string =>
  `${mutation.resource}/${mutation.verb === 'delete' ? mutation.name : mutation.object.metadata.name}`;
