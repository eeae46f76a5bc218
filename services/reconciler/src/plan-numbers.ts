import type { StoredEntry } from '@sluice/store';

const key = 'partition';

/**
 * Numbers the plans of a partition, across all its Services. A Service's state can therefore be dropped without a number
 * being used twice, and a later decision always has a higher number, so a writer need not remember old plans. Plans are
 * published in this order, so one number shows which of them are on the bus.
 */
export class PlanNumbers {
  #last = new StoredNumber('lastPlan');
  #published = new StoredNumber('publishedPlan');

  /** The number of the next plan. */
  get next(): number {
    return this.#last.value + 1;
  }

  /** The next number has been used. */
  advance(): void {
    this.#last.value += 1;
  }

  /** The number of the last plan. */
  get last(): number {
    return this.#last.value;
  }

  /** All plans up to this number are on the bus or need not be. */
  markPublished(upTo: number): void {
    this.#published.value = upTo;
  }

  /** Whether the plan with this number is certainly on the bus. */
  isPublished(number: number): boolean {
    return number <= this.#published.value;
  }

  /** Removes everything that was loaded. */
  clear(): void {
    this.#last = new StoredNumber('lastPlan');
    this.#published = new StoredNumber('publishedPlan');
  }

  /** Loads a stored entry; false if it is not one of these numbers. Throws TypeError if its value is invalid. */
  load(entry: StoredEntry): boolean {
    return entry.key === key && (this.#last.load(entry) || this.#published.load(entry));
  }

  /** Returns and clears the changed entries, to be committed. */
  drainChanges(): StoredEntry[] {
    return [...this.#last.drainChange(), ...this.#published.drainChange()];
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
    if (!Number.isInteger(value)) throw new TypeError(`stored field ${field} is invalid`);
    this.value = this.#stored = Number(value);
    return true;
  }

  drainChange(): StoredEntry[] {
    if (this.value === this.#stored) return [];
    this.#stored = this.value;
    return [{ key, field: this.#field, value: this.value }];
  }
}
