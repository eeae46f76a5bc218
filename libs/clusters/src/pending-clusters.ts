import type { Clock } from '@sluice/runtime';

/** How long to wait for a cluster that other processes of the fleet already serve, in milliseconds. */
const waitMs = 60_000;
const removed = Number.NEGATIVE_INFINITY;

/**
 * Clusters that plans refer to but that this process has not connected to yet. Each process discovers clusters on its own,
 * so another process may have found one earlier.
 */
export class PendingClusters {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #since = new Map<string, number>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Whether to wait for the cluster. `complete`: every configured cluster is connected. */
  mayConnect(identity: string, complete: boolean): boolean {
    const now = this.#clock.monotonic();
    const since = this.#since.get(identity) ?? now;
    if (since === removed) return false;
    this.#since.set(identity, since);
    return !complete || now - since < waitMs;
  }

  /** The cluster was removed: do not wait for it. */
  removed(identity: string): void {
    this.#since.set(identity, removed);
  }

  /** The cluster is connected. */
  connected(identity: string): void {
    this.#since.delete(identity);
  }
}
