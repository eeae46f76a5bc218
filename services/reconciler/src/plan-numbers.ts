import type { StoredEntry } from '@sluice/store';

const key = 'partition';
const field = 'lastPlan';

/**
 * Numbers the plans of a partition, those of all its Services in one row. So a view can be dropped without any number
 * being given twice, and whatever is decided later has a higher number than all before: a writer needs no mark of what was
 * done long ago.
 */
export class PlanNumbers {
  #last = 0;
  #stored = 0;

  next(): number {
    this.#last += 1;
    return this.#last;
  }

  /** True if the entry is of this kind; it is taken as it was stored then. */
  load(entry: StoredEntry): boolean {
    if (entry.key !== key || entry.field !== field) return false;
    this.#last = this.#stored = Number(entry.value);
    return true;
  }

  takeChanges(): StoredEntry[] {
    if (this.#last === this.#stored) return [];
    this.#stored = this.#last;
    return [{ key, field, value: this.#last }];
  }
}
