import type { Clock } from '@sluice/runtime';

/** Clusters that are listed at once. */
const defaultMax = 8;

/** After this time, the next cluster may be listed too, in milliseconds: a slow API server delays no other cluster for long. */
const holdMs = 2_000;

/**
 * Limits how many clusters a process lists at once. The event loop handles everything that has arrived before it handles timers,
 * so with the lists of hundreds of clusters, heartbeats of leases would come too late.
 */
export class ListLimit {
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(clock: Clock, max = defaultMax) {
    this.#clock = clock;
    this.#free = max;
  }

  /** Resolves when a list may begin, with a function to call at its end; or when `signal` aborts. */
  async acquire(signal: AbortSignal): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else if (!(await this.#turn(signal))) return () => {};
    let isHeld = true;
    const release = () => {
      if (!isHeld) return;
      isHeld = false;
      cancel();
      const [next] = this.#waiting;
      if (next === undefined) this.#free += 1;
      else next();
    };
    const cancel = this.#clock.schedule(holdMs, release);
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
