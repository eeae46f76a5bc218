import type { Controller } from '@sluice/model';

type Counts = Map<Controller, number>;

/** Ready endpoints as written, of all Services of a partition by formatted key, with a sum per cluster and controller. */
export class ReadyEndpoints {
  readonly #services = new Map<string, Counts>();
  readonly #totals = new Map<string, Counts>();

  has(key: string, controller: Controller): boolean {
    return this.#services.get(key)?.has(controller) ?? false;
  }

  set(key: string, cluster: string, controller: Controller, ready: number): void {
    const service = countsOf(this.#services, key);
    add(countsOf(this.#totals, cluster), controller, ready - (service.get(controller) ?? 0));
    service.set(controller, ready);
  }

  /** The sum over all other Services of the cluster. */
  elsewhere(key: string, cluster: string, controller: Controller): number {
    const own = this.#services.get(key)?.get(controller) ?? 0;
    return (this.#totals.get(cluster)?.get(controller) ?? 0) - own;
  }

  remove(key: string, cluster: string): void {
    const totals = countsOf(this.#totals, cluster);
    for (const [controller, ready] of this.#services.get(key) ?? []) add(totals, controller, -ready);
    this.#services.delete(key);
  }
}

function countsOf(counts: Map<string, Counts>, name: string): Counts {
  let known = counts.get(name);
  if (known === undefined) {
    known = new Map();
    counts.set(name, known);
  }
  return known;
}

function add(counts: Counts, controller: Controller, ready: number): void {
  counts.set(controller, (counts.get(controller) ?? 0) + ready);
}
