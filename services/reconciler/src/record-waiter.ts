import type { Delivery } from '@sluice/bus';
import type { Cancel, Clock } from '@sluice/platform';

/**
 * Waits for records or a deadline, whichever is first. Not a `Promise.race`: a promise that outlives many races, such as one that
 * only rejects, would keep the records of all of them in memory.
 */
export class RecordWaiter {
  readonly #clock: Clock;
  readonly #read: () => Promise<readonly Delivery[]>;
  #isReading = false;
  #records: readonly Delivery[] | undefined;
  #error: { readonly cause: unknown } | undefined;
  #wake: () => void = () => {};
  #cancel: Cancel = () => {};

  constructor(clock: Clock, read: () => Promise<readonly Delivery[]>) {
    this.#clock = clock;
    this.#read = read;
  }

  /**
   * Returns the next records, or undefined after the given time in milliseconds; undefined: there is no deadline. Records that
   * arrive after it are returned by the next call.
   *
   * @throws the error of the reader, or the one that `fail` was called with
   */
  async next(afterMs: number | undefined): Promise<readonly Delivery[] | undefined> {
    if (!this.#isReading && this.#records === undefined) void this.#readMore();
    if (this.#records === undefined && this.#error === undefined) await this.#woken(afterMs);
    if (this.#error !== undefined) throw this.#error.cause;
    const records = this.#records;
    this.#records = undefined;
    return records;
  }

  /** Makes this wait, or the next one, throw the error. */
  fail(error: unknown): void {
    this.#error ??= { cause: error };
    this.#wake();
  }

  async #readMore(): Promise<void> {
    this.#isReading = true;
    try {
      this.#records = await this.#read();
      this.#wake();
    } catch (error) {
      this.fail(error);
    } finally {
      this.#isReading = false;
    }
  }

  #woken(afterMs: number | undefined): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#cancel();
        resolve();
      };
      if (afterMs !== undefined) this.#cancel = this.#clock.schedule(Math.max(0, afterMs), this.#wake);
    });
  }
}
