/**
 * Divides the requests that a process may have in flight among the clusters that have any, in equal shares of at least one. A
 * cluster that does not respond keeps its own share only, so it delays no other.
 */
export class FairShare {
  readonly #total: number;
  #active = 0;

  constructor(total: number) {
    this.#total = total;
  }

  /** Requests that each active cluster may have in flight. */
  get current(): number {
    return Math.ceil(this.#total / Math.max(1, this.#active));
  }

  /** Call when a cluster has its first request, and the returned function once, when it has none left. */
  enter(): () => void {
    this.#active += 1;
    return () => {
      this.#active -= 1;
    };
  }
}
