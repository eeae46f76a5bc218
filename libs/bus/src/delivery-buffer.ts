import type { Delivery } from './bus.ts';

/** Records that a reader has received and `next` has not returned, bounded by the reader. */
export class DeliveryBuffer {
  readonly #onTake: (bytes: number) => void;
  #records: Delivery[] = [];
  #bytes = 0;
  #held = false;
  #error: Error | undefined;
  #closed = false;
  #wake: (() => void) | undefined;

  /** Calls `onTake` with the size of the records that `next` is about to return. */
  constructor(onTake: (bytes: number) => void) {
    this.#onTake = onTake;
  }

  get length(): number {
    return this.#records.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether `next` waits although there may be records. */
  get isHeld(): boolean {
    return this.#held;
  }

  /** Resolves when there are records, or with none when the buffer is closed. @throws what `fail` got, after the records */
  async next(max: number): Promise<readonly Delivery[]> {
    for (;;) {
      if (this.#closed) return [];
      if (!this.#held) {
        if (this.#records.length > 0) return this.#take(max);
        if (this.#error !== undefined) throw this.#error;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  push(delivery: Delivery): void {
    this.#records.push(delivery);
    this.#bytes += delivery.payload.length;
    this.#notify();
  }

  /** `next` waits until `unhold`. */
  hold(): void {
    this.#held = true;
  }

  unhold(): void {
    this.#held = false;
    this.#notify();
  }

  discardAfter(offset: number): void {
    this.#records = this.#records.filter((record) => record.offset <= offset);
    this.#bytes = sizeOf(this.#records);
  }

  fail(error: Error): void {
    this.#error ??= error;
    this.#notify();
  }

  close(): void {
    this.#closed = true;
    this.#records = [];
    this.#bytes = 0;
    this.#notify();
  }

  #take(max: number): readonly Delivery[] {
    const isAll = max >= this.#records.length;
    const taken = isAll ? this.#records : this.#records.slice(0, max);
    this.#records = isAll ? [] : this.#records.slice(max);
    const bytes = sizeOf(taken);
    this.#bytes -= bytes;
    this.#onTake(bytes);
    return taken;
  }

  #notify(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}

const sizeOf = (records: readonly Delivery[]): number =>
  records.reduce((bytes, { payload }) => bytes + payload.length, 0);
