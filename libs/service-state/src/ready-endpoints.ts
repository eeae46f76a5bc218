import type { Controller } from '@sluice/controllers';
import { formatServiceKey, type ServiceKey } from '@sluice/messages';

/** Ready endpoints of the Services of a partition as they are written, added up for each cluster and controller. */
export class ReadyEndpoints {
  readonly #services = new Map<string, Map<Controller, number>>();
  readonly #totals = new Map<string, number>();

  knows(key: ServiceKey, controller: Controller): boolean {
    return this.#services.get(formatServiceKey(key))?.has(controller) ?? false;
  }

  set(key: ServiceKey, controller: Controller, ready: number): void {
    const text = formatServiceKey(key);
    const service = this.#services.get(text) ?? new Map<Controller, number>();
    this.#services.set(text, service);
    this.#add(key.cluster, controller, ready - (service.get(controller) ?? 0));
    service.set(controller, ready);
  }

  /** Those of all Services of the cluster, if this one has so many. */
  among(key: ServiceKey, controller: Controller, ready: number): number {
    const known = this.#services.get(formatServiceKey(key))?.get(controller) ?? 0;
    return (this.#totals.get(totalOf(key.cluster, controller)) ?? 0) - known + ready;
  }

  drop(key: ServiceKey): void {
    const text = formatServiceKey(key);
    for (const [controller, ready] of this.#services.get(text) ?? []) this.#add(key.cluster, controller, -ready);
    this.#services.delete(text);
  }

  #add(cluster: string, controller: Controller, ready: number): void {
    const name = totalOf(cluster, controller);
    const total = (this.#totals.get(name) ?? 0) + ready;
    if (total === 0) this.#totals.delete(name);
    else this.#totals.set(name, total);
  }
}

const totalOf = (cluster: string, controller: Controller): string => `${cluster}/${controller}`;
