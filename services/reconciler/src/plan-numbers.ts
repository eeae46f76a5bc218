import type { StoredEntry } from '@sluice/store';

const key = 'partition';

/**
 * Numbers the plans of a partition, those of all its Services in one row. So a view can be dropped without any number
 * being given twice, and whatever is decided later has a higher number than all before: a writer needs no mark of what was
 * done long ago. Plans are published in that order too, so one number says which of them surely are on the bus.
 */
export class PlanNumbers {
  #last = new StoredNumber('lastPlan');
  #published = new StoredNumber('publishedPlan');

  next(): number {
    this.#last.value += 1;
    return this.#last.value;
  }

  /** All plans that have a number by now are on the bus, or need not be. */
  publishedAll(): void {
    this.#published.value = this.#last.value;
  }

  /** Whether the plan of this number is on the bus for sure. */
  isPublished(number: number): boolean {
    return number <= this.#published.value;
  }

  /** True if the entry is of this kind; it is taken as it was stored then. */
  load(entry: StoredEntry): boolean {
    return entry.key === key && (this.#last.load(entry) || this.#published.load(entry));
  }

  takeChanges(): StoredEntry[] {
    return [...this.#last.takeChange(), ...this.#published.takeChange()];
  }
}

class StoredNumber {
  value = 0;
  readonly #field: string;
  #stored = 0;

  constructor(field: string) {
    this.#field = field;
  }

  load({ field, value }: StoredEntry): boolean {
    if (field !== this.#field) return false;
    this.value = this.#stored = Number(value);
    return true;
  }

  takeChange(): StoredEntry[] {
    if (this.value === this.#stored) return [];
    this.#stored = this.value;
    return [{ key, field: this.#field, value: this.value }];
  }
}
