import type { StreamOffset } from '@sluice/bus';
import { type Clock, untilTick } from '@sluice/platform';

/** Work that has been applied and decided but not committed. */
export class PendingCommit {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #maxRecords: number;
  #keys = new Set<string>();
  #offset: StreamOffset | undefined;
  #records = 0;
  #deadline: number | undefined;

  /** The commit is due at the next multiple of `intervalMs`, or with `maxRecords` records. */
  constructor(clock: Clock, intervalMs: number, maxRecords: number) {
    this.#clock = clock;
    this.#intervalMs = intervalMs;
    this.#maxRecords = maxRecords;
  }

  /** Adds a step: the Services it changed, and the offset of its last record if it had any. */
  add(keys: Iterable<string>, offset: StreamOffset | undefined, records: number, now: number): void {
    for (const key of keys) this.#keys.add(key);
    this.#offset = offset ?? this.#offset;
    this.#records += records;
    if (this.#keys.size === 0 && this.#offset === undefined) return;
    this.#deadline ??= now + untilTick(this.#clock, this.#intervalMs);
  }

  /** Latest time to commit, or undefined if nothing is pending. */
  get deadline(): number | undefined {
    return this.#deadline;
  }

  /** Corrects the deadline after the system clock was set back to `now`. */
  clampDeadline(now: number): void {
    if (this.#deadline !== undefined) this.#deadline = Math.min(this.#deadline, now + this.#intervalMs);
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
