import { comparePlans, type PlanId } from '@sluice/messages';
import type { StoredEntry } from '@sluice/store';

const key = 'lane';
const field = 'done';

/**
 * Which plans of a lane are done. Its reconciler numbers the plans of all its Services in one row and sends them in that
 * order, and one that takes over has a higher epoch. So up to the checkpoint a single mark is enough: whatever comes later
 * and is not newer was done before, was lost on its way, or is a former owner's. Beyond it, each Service and controller
 * (a line) has a mark of its own.
 */
export class DonePlans {
  #mark: PlanId = { epoch: 0, number: 0 };
  readonly #beyond = new Map<string, PlanId>();

  load(entries: readonly StoredEntry[]): void {
    for (const entry of entries) {
      if (entry.key === key && entry.field === field) this.#mark = entry.value as PlanId;
    }
  }

  /** Whether the plan, or one that replaces it, is done. */
  covers(line: string, plan: PlanId): boolean {
    const last = this.#beyond.get(line);
    return comparePlans(plan, this.#mark) <= 0 || (last !== undefined && comparePlans(plan, last) <= 0);
  }

  add(line: string, plan: PlanId): void {
    this.#beyond.set(line, plan);
  }

  /** The checkpoint is about to pass these plans, all that there are up to it. Returns what is to be stored with it. */
  pass(plans: readonly PlanId[]): StoredEntry[] {
    const before = this.#mark;
    for (const plan of plans) if (comparePlans(plan, this.#mark) > 0) this.#mark = plan;
    if (this.#mark === before) return [];
    for (const [line, plan] of this.#beyond) if (comparePlans(plan, this.#mark) <= 0) this.#beyond.delete(line);
    return [{ key, field, value: this.#mark }];
  }
}
