import type { Disturbance } from './invariants/held-back.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';

/** When faults may delay each cluster. Times are in milliseconds since the Unix epoch. */
export class Disturbances {
  readonly #begin: number;
  readonly #byCluster = new Map<string, Disturbance>();

  constructor(begin: number) {
    this.#begin = begin;
  }

  /** A fault that strikes now may delay the clusters for `forMs`. */
  add(now: number, forMs: number, clusters: readonly SimulatedCluster[]): void {
    for (const { name } of clusters) {
      const { since, until } = this.of(name);
      this.#byCluster.set(name, { since: now <= until ? since : now, until: Math.max(until, now + forMs) });
    }
  }

  of(cluster: string): Disturbance {
    return this.#byCluster.get(cluster) ?? { since: this.#begin, until: this.#begin };
  }

  /** When the last fault ended; in the future while one is active. */
  get endedAt(): number {
    return Math.max(this.#begin, ...this.#byCluster.values().map(({ until }) => until));
  }
}
