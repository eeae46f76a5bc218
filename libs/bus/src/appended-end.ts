import type { AppendedOffsets } from './bus.ts';

/**
 * Where the records end that this process has appended to a log. Answers of appends that overlap arrive in any order, and a
 * repetition has the offset of its first occurrence, so the last answer need not have the highest offset.
 */
export class AppendedEnd {
  #inFlight = 0;
  /** Highest offset of the appends that overlap; infinite if the bus does not know one. */
  #highest = 0;
  /** Infinite: unknown until an append is answered that began later. */
  #offset = 0;

  /** Whether a reader that has returned the record at this offset has returned all that was appended. */
  isReached(offset: number): boolean {
    return this.#inFlight === 0 && offset >= this.#offset;
  }

  /** Call with each append. Without a record, nothing was appended. */
  async during(append: () => Promise<AppendedOffsets>): Promise<AppendedOffsets> {
    this.#inFlight += 1;
    try {
      const offsets = await append();
      const last = offsets === undefined ? Number.POSITIVE_INFINITY : (offsets.at(-1) ?? 0);
      this.#highest = Math.max(this.#highest, last);
      return offsets;
    } finally {
      this.#inFlight -= 1;
      if (this.#inFlight === 0) this.#settle();
    }
  }

  /** A reader must have returned the record at this offset too; infinite if the bus does not know it. */
  raise(offset: number): void {
    this.#offset = Math.max(this.#offset, offset);
  }

  /** The log was recreated: its offsets restart, and some of its records may be of this process. */
  forget(): void {
    this.#offset = Number.POSITIVE_INFINITY;
  }

  #settle(): void {
    const highest = this.#highest;
    this.#highest = 0;
    if (highest === 0) return;
    this.#offset = Math.max(highest, Number.isFinite(this.#offset) ? this.#offset : 0);
  }
}
