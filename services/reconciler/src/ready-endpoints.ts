import type { Controller } from '@sluice/controllers';
import { formatServiceKey, type ServiceKey } from '@sluice/messages';

/** Ready endpoints as written, of all Services of a partition, with a sum per cluster and controller. */
export class ReadyEndpoints {
  readonly #services = new Map<string, Map<Controller, number>>();
  readonly #totals = new Map<string, number>();

  has(key: ServiceKey, controller: Controller): boolean {
    return this.#services.get(formatServiceKey(key))?.has(controller) ?? false;
  }

  set(key: ServiceKey, controller: Controller, ready: number): void {
    const text = formatServiceKey(key);
    const service = this.#services.get(text) ?? new Map<Controller, number>();
    this.#services.set(text, service);
    this.#add(key.cluster, controller, ready - (service.get(controller) ?? 0));
    service.set(controller, ready);
  }

  /** The sum over all other Services of the cluster. */
  elsewhere(key: ServiceKey, controller: Controller): number {
    const own = this.#services.get(formatServiceKey(key))?.get(controller) ?? 0;
    return (this.#totals.get(totalKey(key.cluster, controller)) ?? 0) - own;
  }

  remove(key: ServiceKey): void {
    const text = formatServiceKey(key);
    for (const [controller, ready] of this.#services.get(text) ?? []) this.#add(key.cluster, controller, -ready);
    this.#services.delete(text);
  }

  #add(cluster: string, controller: Controller, ready: number): void {
    const key = totalKey(cluster, controller);
    const total = (this.#totals.get(key) ?? 0) + ready;
    if (total === 0) this.#totals.delete(key);
    else this.#totals.set(key, total);
  }
}

const totalKey = (cluster: string, controller: Controller): string => `${cluster}/${controller}`;
