import type { StreamOffset } from '@sluice/bus';

/** What of a partition was folded and decided, and not committed yet. */
export class Unstored {
  readonly #delayMs: number;
  readonly #maxRecords: number;
  #keys = new Set<string>();
  #cursor: StreamOffset | undefined;
  #records = 0;
  #dueAt: number | undefined;

  /** After `delayMs` it is to be committed, and with `maxRecords`. */
  constructor(delayMs: number, maxRecords: number) {
    this.#delayMs = delayMs;
    this.#maxRecords = maxRecords;
  }

  /** A step touched these Services, and came to this record if it had any. */
  add(keys: Iterable<string>, cursor: StreamOffset | undefined, records: number, now: number): void {
    for (const key of keys) this.#keys.add(key);
    this.#cursor = cursor ?? this.#cursor;
    this.#records += records;
    if (this.#keys.size > 0 || this.#cursor !== undefined) this.#dueAt ??= now + this.#delayMs;
  }

  /** When it is to be committed; undefined if there is nothing. */
  get dueAt(): number | undefined {
    return this.#dueAt;
  }

  isDue(now: number): boolean {
    return this.#dueAt !== undefined && (this.#dueAt <= now || this.#records >= this.#maxRecords);
  }

  /** All of it, to be committed now. `cursor` undefined: no record was folded. */
  take(): { readonly keys: ReadonlySet<string>; readonly cursor: StreamOffset | undefined } {
    const taken = { keys: this.#keys, cursor: this.#cursor };
    this.#keys = new Set();
    this.#cursor = undefined;
    this.#records = 0;
    this.#dueAt = undefined;
    return taken;
  }
}
