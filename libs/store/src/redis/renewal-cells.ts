/** Times that a process's main thread and its lease thread share, in milliseconds on the monotonic clock. */
export class RenewalCells {
  readonly buffer: SharedArrayBuffer;
  /** Microseconds, because atomic access needs integers; 0 until set. */
  readonly #cells: BigInt64Array;

  constructor(buffer = new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer;
    this.#cells = new BigInt64Array(buffer);
  }

  /** When the lease thread's last successful renewal was sent. */
  get renewedAt(): number {
    return this.#get(0);
  }

  set renewedAt(ms: number) {
    this.#set(0, ms);
  }

  /** When the main thread's last acknowledged heartbeat was sent. */
  get heartbeatAt(): number {
    return this.#get(1);
  }

  set heartbeatAt(ms: number) {
    this.#set(1, ms);
  }

  #get(index: number): number {
    const us = Atomics.load(this.#cells, index);
    return us === 0n ? Number.NEGATIVE_INFINITY : Number(us) / 1000;
  }

  #set(index: number, ms: number): void {
    if (Number.isFinite(ms)) Atomics.store(this.#cells, index, BigInt(Math.floor(ms * 1000)));
  }
}
