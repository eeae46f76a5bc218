import type { Clock } from './clock.ts';

export interface SemaphoreOptions {
  readonly clock: Clock;
  /** Tasks that run at once. */
  readonly permits: number;
  /** After this time, a permit no longer counts, in milliseconds: a task that waits for a slow server delays no other for long. */
  readonly maxHoldMs: number;
}

/** Limits how many tasks run at once, in the order in which they ask. */
export class Semaphore {
  readonly #options: SemaphoreOptions;
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(options: SemaphoreOptions) {
    this.#options = options;
    this.#free = options.permits;
  }

  /** Resolves when the task may begin, with a function to call at its end; or when `signal` aborts. */
  async acquire(signal: AbortSignal): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else if (!(await this.#turn(signal))) return () => {};
    const { clock, maxHoldMs } = this.#options;
    let isHeld = true;
    const release = () => {
      if (!isHeld) return;
      isHeld = false;
      cancel();
      const [next] = this.#waiting;
      if (next === undefined) this.#free += 1;
      else next();
    };
    const cancel = clock.schedule(maxHoldMs, release);
    return release;
  }

  /** Resolves with true once it is the caller's turn, and with false when `signal` aborts before. */
  #turn(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve(false);
      const end = (isTurn: boolean) => {
        this.#waiting.delete(start);
        signal.removeEventListener('abort', abort);
        resolve(isTurn);
      };
      const start = () => end(true);
      const abort = () => end(false);
      this.#waiting.add(start);
      signal.addEventListener('abort', abort, { once: true });
    });
  }
}
