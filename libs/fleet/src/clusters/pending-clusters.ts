import type { Clock } from '@sluice/platform';

/** How long to wait for a cluster that other processes of the fleet already serve, or still serve, in milliseconds. */
const waitMs = 60_000;

/**
 * Clusters that plans refer to but that this process is not connected to. Each process discovers clusters and their removal
 * on its own, so another process may have found a cluster earlier, or may find its removal later.
 */
export class PendingClusters {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #waiting = new Map<string, { readonly since: number; readonly removed: boolean }>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Whether to wait for the cluster. `complete`: every configured cluster is connected. */
  mayConnect(identity: string, complete: boolean): boolean {
    const now = this.#clock.monotonic();
    const { since, removed } = this.#waiting.get(identity) ?? this.#wait(identity, false);
    return (!complete && !removed) || now - since < waitMs;
  }

  /** The cluster was removed. Until the other processes know, there may be plans for it. */
  removed(identity: string): void {
    this.#wait(identity, true);
  }

  /** The cluster is connected. */
  connected(identity: string): void {
    this.#waiting.delete(identity);
  }

  #wait(identity: string, removed: boolean) {
    const entry = { since: this.#clock.monotonic(), removed };
    this.#waiting.set(identity, entry);
    return entry;
  }
}
