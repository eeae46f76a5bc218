/**
 * Turns that many tasks of one process take with what they compute. Between two turns everything else of the process is
 * attended to: timers, and what has come in. Without that, the answers to many tasks may come at once, and what follows
 * from all of them runs before anything else does, such as the renewal of a lease.
 */
export class YieldQueue {
  readonly #defer: (callback: () => void) => void;
  readonly #waiting: (() => void)[] = [];

  /** `defer`: calls back once everything else that waits by now was attended to, such as `setImmediate`. */
  constructor(defer: (callback: () => void) => void) {
    this.#defer = defer;
  }

  /** Resolves when it is the caller's turn, after those who asked before. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) this.#defer(this.#give);
    });
  }

  readonly #give = (): void => {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) this.#defer(this.#give);
  };
}
