import type { Clock } from '@sluice/platform';

/** How long to wait for a cluster that other processes of the fleet already serve, or still serve, in milliseconds. */
const waitMs = 60_000;

/**
 * Clusters that plans refer to but that this process is not connected to. Each process discovers clusters and their removal
 * on its own, so another process may have found a cluster earlier, or may find its removal later.
 */
export class PendingClusters {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #waiting = new Map<string, Waiting>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Whether a plan waits for the cluster. `complete`: every configured cluster is connected. */
  mayConnect(identity: string, complete: boolean): boolean {
    const now = this.#clock.monotonic();
    const known = this.#waiting.get(identity);
    // A plan after a long silence is of a cluster that another process serves again.
    const isKnown = known !== undefined && now - known.plannedAt <= waitMs;
    const { since, removed } = isKnown ? known : { since: now, removed: false };
    this.#waiting.set(identity, { since, removed, plannedAt: now });
    return (!complete && !removed) || now - since < waitMs;
  }

  /** The cluster was removed. Until the other processes know, there may be plans for it. */
  removed(identity: string): void {
    const now = this.#clock.monotonic();
    this.#waiting.set(identity, { since: now, removed: true, plannedAt: now });
  }

  /** The cluster is connected. */
  connected(identity: string): void {
    this.#waiting.delete(identity);
  }
}

interface Waiting {
  readonly since: number;
  readonly removed: boolean;
  /** When the last plan for it arrived, or when it was removed. */
  readonly plannedAt: number;
}
