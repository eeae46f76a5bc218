import { type EndpointSlice, type Endpoints, hintsEnabled, type Node, type Service } from '@sluice/controllers';
import type { Cause } from '@sluice/messages';
import { equalSelectors, type Inventory, objectName, serviceOfSlice, type WatchedPod } from './inventory.ts';
import type { Mark } from './marks.ts';

/** Where marks go: the publisher, or before all lists are in, nowhere. */
export type MarkService = (namespace: string, service: string, mark: Mark, cause: Cause) => void;

/**
 * Keeps the inventory and says which Services each change concerns. Both the old and the new state of an object are
 * asked, so that a Service which loses a Pod or slice hears of it.
 */
export class Router {
  readonly #inventory: Inventory;
  readonly #mark: MarkService;

  constructor(inventory: Inventory, mark: MarkService) {
    this.#inventory = inventory;
    this.#mark = mark;
  }

  service(namespace: string, name: string, next: Service | undefined, cause: Cause): void {
    const old = this.#inventory.services.get(objectName(namespace, name));
    if (next === undefined) {
      this.#inventory.deleteService(namespace, name);
      if (old !== undefined) this.#mark(namespace, name, { on: 'service' }, cause);
      return;
    }
    this.#inventory.setService(next);
    // A Service that is new, or selects other Pods now, needs all that others sent while it did not ask for it.
    const whole = old === undefined || old.uid !== next.uid || !equalSelectors(old.selector, next.selector);
    this.#mark(namespace, name, whole ? { on: 'snapshot', start: false } : { on: 'service' }, cause);
  }

  pod(namespace: string, name: string, next: WatchedPod | undefined, cause: Cause): void {
    const old = this.#inventory.pod(namespace, name);
    if (next === undefined) this.#inventory.deletePod(namespace, name);
    else this.#inventory.setPod(next);
    const services = new Set<string>();
    for (const watched of [old, next]) {
      if (watched === undefined) continue;
      for (const service of this.#inventory.selectors.servicesFor(namespace, watched.labels)) services.add(service);
    }
    for (const service of services) this.#mark(namespace, service, { on: 'pod', name }, cause);
  }

  node(name: string, next: Node | undefined, cause: Cause): void {
    const old = this.#inventory.nodes.get(name);
    const before = this.#inventory.topology;
    if (next === undefined) this.#inventory.deleteNode(name);
    else this.#inventory.setNode(next);
    if ((old === undefined) !== (next === undefined) || old?.zone !== next?.zone) {
      for (const watched of [...this.#inventory.podsOn(name)]) {
        this.pod(watched.pod.namespace, watched.pod.name, watched, cause);
      }
    }
    if (JSON.stringify(before) === JSON.stringify(this.#inventory.topology)) return;
    for (const service of this.#inventory.services.values()) {
      if (hintsEnabled(service.annotations)) this.#mark(service.namespace, service.name, { on: 'topology' }, cause);
    }
  }

  endpoints(namespace: string, name: string, next: Endpoints | undefined, cause: Cause): void {
    const key = objectName(namespace, name);
    const uid = next?.metadata.uid ?? this.#inventory.endpoints.get(key)?.metadata.uid ?? '';
    if (next === undefined) this.#inventory.endpoints.delete(key);
    else this.#inventory.endpoints.set(key, next);
    this.#mark(namespace, name, { on: 'endpoints', uid }, cause);
  }

  slice(namespace: string, name: string, next: EndpointSlice | undefined, cause: Cause): void {
    const old = this.#inventory.slice(namespace, name);
    const owners = [old, next].map((slice) => (slice === undefined ? undefined : serviceOfSlice(slice)));
    const [oldOwner, newOwner] = owners;
    if (next === undefined || newOwner === undefined) this.#inventory.deleteSlice(namespace, name);
    else this.#inventory.setSlice(next, newOwner);
    if (oldOwner !== undefined && oldOwner !== newOwner) {
      const relabelled = next !== undefined && next.metadata.uid === old?.metadata.uid;
      const mark = { on: 'slice', name, uid: old?.metadata.uid ?? '', relabelled } as const;
      this.#mark(namespace, serviceName(oldOwner), mark, cause);
    }
    if (newOwner !== undefined) {
      const mark = { on: 'slice', name, uid: next?.metadata.uid ?? '', relabelled: false } as const;
      this.#mark(namespace, serviceName(newOwner), mark, cause);
    }
  }
}

const serviceName = (name: string): string => name.slice(name.indexOf('/') + 1);
