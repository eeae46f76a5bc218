import type { StreamOffset } from '@sluice/bus';

/** Work that has been applied and decided but not committed. */
export class PendingCommit {
  readonly #delayMs: number;
  readonly #maxRecords: number;
  #keys = new Set<string>();
  #offset: StreamOffset | undefined;
  #records = 0;
  #deadline: number | undefined;

  /** The commit is due after `delayMs` or with `maxRecords` records. */
  constructor(delayMs: number, maxRecords: number) {
    this.#delayMs = delayMs;
    this.#maxRecords = maxRecords;
  }

  /** Adds a step: the Services it changed, and the offset of its last record if it had any. */
  add(keys: Iterable<string>, offset: StreamOffset | undefined, records: number, now: number): void {
    for (const key of keys) this.#keys.add(key);
    this.#offset = offset ?? this.#offset;
    this.#records += records;
    if (this.#keys.size > 0 || this.#offset !== undefined) this.#deadline ??= now + this.#delayMs;
  }

  /** Latest time to commit, or undefined if nothing is pending. */
  get deadline(): number | undefined {
    return this.#deadline;
  }

  /** Corrects the deadline after the system clock was set back to `now`. */
  clampDeadline(now: number): void {
    if (this.#deadline !== undefined) this.#deadline = Math.min(this.#deadline, now + this.#delayMs);
  }

  isDue(now: number): boolean {
    return this.#deadline !== undefined && (this.#deadline <= now || this.#records >= this.#maxRecords);
  }

  /** Returns and clears the pending work. `offset` is undefined if no record was applied. */
  drain(): { readonly keys: ReadonlySet<string>; readonly offset: StreamOffset | undefined } {
    const drained = { keys: this.#keys, offset: this.#offset };
    this.#keys = new Set();
    this.#offset = undefined;
    this.#records = 0;
    this.#deadline = undefined;
    return drained;
  }
}
