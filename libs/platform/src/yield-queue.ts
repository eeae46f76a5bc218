/**
 * Lets CPU-bound tasks yield to the event loop, resuming one task at a time. Between two tasks, timers and I/O are handled.
 * Otherwise answers to many tasks that arrive together would all be processed before, for example, a lease renewal.
 */
export class YieldQueue {
  readonly #defer: (callback: () => void) => void;
  readonly #waiting: (() => void)[] = [];

  /** `defer` runs a callback after pending timers and I/O, as `setImmediate` does. */
  constructor(defer: (callback: () => void) => void) {
    this.#defer = defer;
  }

  /** Resolves when the caller may resume, after all earlier callers. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) this.#defer(this.#resumeNext);
    });
  }

  readonly #resumeNext = (): void => {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) this.#defer(this.#resumeNext);
  };
}
