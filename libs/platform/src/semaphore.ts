import type { Clock } from './clock.ts';

interface SemaphoreOptions {
  readonly clock: Clock;
  /** Tasks that run at once. */
  readonly permits: number;
  /**
   * A permit stops counting after so long without progress, in milliseconds: a task that waits for a slow server delays no other for
   * long.
   */
  readonly maxIdleMs: number;
  /** A permit stops counting after this time in any case, in milliseconds. Default: `maxIdleMs`. */
  readonly maxHoldMs?: number;
}

/** What a task holds while it runs. */
export interface Permit {
  /** Reports that the task makes progress. */
  renew(): void;
  /** Idempotent. */
  release(): void;
}

const noPermit: Permit = { renew() {}, release() {} };

/** Limits how many tasks run at once, in the order in which they ask. */
export class Semaphore {
  readonly #options: SemaphoreOptions;
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(options: SemaphoreOptions) {
    this.#options = options;
    this.#free = options.permits;
  }

  /** Resolves when the task may begin; or when `signal` aborts, with a permit that has no effect. */
  async acquire(signal: AbortSignal): Promise<Permit> {
    if (this.#free > 0) this.#free -= 1;
    else if (!(await this.#turn(signal))) return noPermit;
    const { clock, maxIdleMs, maxHoldMs = maxIdleMs } = this.#options;
    const since = clock.monotonic();
    let renewedAt = since;
    let isHeld = true;
    const release = () => {
      if (!isHeld) return;
      isHeld = false;
      cancel();
      const [next] = this.#waiting;
      if (next === undefined) this.#free += 1;
      else next();
    };
    const renew = () => {
      renewedAt = clock.monotonic();
    };
    const check = () => {
      const leftMs = Math.min(renewedAt + maxIdleMs, since + maxHoldMs) - clock.monotonic();
      if (leftMs <= 0) release();
      else cancel = clock.schedule(leftMs, check);
    };
    let cancel = clock.schedule(Math.min(maxIdleMs, maxHoldMs), check);
    return { renew, release };
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
