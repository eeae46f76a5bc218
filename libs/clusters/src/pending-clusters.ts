import type { Clock } from '@sluice/runtime';

/** How long a cluster that others of the fleet know already may take to be found here, in milliseconds. */
const patienceMs = 60_000;
const gone = Number.NEGATIVE_INFINITY;

/**
 * Clusters that plans are for, and that this process does not know. Each process looks for itself which clusters there are,
 * so another one may have found one earlier.
 */
export class Latecomers {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #since = new Map<string, number>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Whether to wait for it. `complete`: all clusters that are named here have been reached. */
  mayCome(identity: string, complete: boolean): boolean {
    const now = this.#clock.monotonic();
    const since = this.#since.get(identity) ?? now;
    if (since === gone) return false;
    this.#since.set(identity, since);
    return !complete || now - since < patienceMs;
  }

  /** It was here, and is not to be waited for. */
  gone(identity: string): void {
    this.#since.set(identity, gone);
  }

  /** It is here. */
  came(identity: string): void {
    this.#since.delete(identity);
  }
}
