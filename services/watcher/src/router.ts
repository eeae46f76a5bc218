import type { Cause } from '@sluice/messages';
import { serviceNameLabel } from '@sluice/model';
import type { DirtyReason } from './dirty-set.ts';
import { equalSelectors, type Indexer, serviceOfSlice } from './indexer.ts';
import { describeEvent, type ObjectEvent, parseObjectName } from './object-event.ts';

export type MarkDirty = (namespace: string, service: string, reason: DirtyReason, cause: Cause) => void;

type Mark = (namespace: string, service: string, reason: DirtyReason) => void;

/**
 * Marks dirty every Service that an event concerns. Old and new state of the object are both considered, so that a
 * Service that loses a Pod or slice is marked too. Expects that the indexer has applied the event.
 */
export class Router {
  readonly #indexer: Indexer;
  readonly #markDirty: MarkDirty;
  /** JSON of the zone ratios after the last Node event. */
  #topology: string;

  constructor(indexer: Indexer, markDirty: MarkDirty) {
    this.#indexer = indexer;
    this.#markDirty = markDirty;
    this.#topology = JSON.stringify(indexer.topology);
  }

  apply(event: ObjectEvent): void {
    let cause: Cause | undefined;
    const mark: Mark = (namespace, service, reason) => {
      cause ??= { description: describeEvent(event), observedAt: event.observedAt };
      this.#markDirty(namespace, service, reason, cause);
    };
    switch (event.resource) {
      case 'services':
        return this.#service(event, mark);
      case 'pods':
        return this.#pod(event, mark);
      case 'nodes':
        return this.#node(event, mark);
      case 'endpoints':
        return this.#endpoints(event, mark);
      case 'endpointslices':
        return this.#slice(event, mark);
    }
  }

  #service({ namespace, name, oldObject, newObject, wasUndecodable }: ObjectEvent<'services'>, mark: Mark): void {
    if (newObject === undefined) {
      if (oldObject !== undefined) mark(namespace, name, { kind: 'service' });
      else if (wasUndecodable) mark(namespace, name, { kind: 'snapshot', initial: true });
      return;
    }
    // Objects that a Service did not select were not published for it, so a new selection needs a snapshot.
    const isSameSelection =
      oldObject !== undefined &&
      oldObject.uid === newObject.uid &&
      equalSelectors(oldObject.selector, newObject.selector);
    mark(namespace, name, isSameSelection ? { kind: 'service' } : { kind: 'snapshot', initial: false });
  }

  #pod({ namespace, name, oldObject, newObject }: ObjectEvent<'pods'>, mark: Mark): void {
    const services = new Set<string>();
    for (const watched of [oldObject, newObject]) {
      if (watched === undefined) continue;
      for (const service of this.#indexer.selectors.servicesFor(namespace, watched.labels)) services.add(service);
    }
    for (const service of services) mark(namespace, service, { kind: 'pod', name });
    if (services.size === 0 && newObject !== undefined && oldObject === undefined) {
      for (const service of this.#indexer.resembling(namespace, newObject.labels)) {
        mark(namespace, service, { kind: 'service' });
      }
    }
  }

  #node({ name, oldObject, newObject }: ObjectEvent<'nodes'>, mark: Mark): void {
    // A missing Node has no zone, not even an empty one. If neither is known, a Node that cannot be decoded came or went.
    if (oldObject?.zone !== newObject?.zone || oldObject === newObject) this.#podsOnNode(name, mark);
    const topology = JSON.stringify(this.#indexer.topology);
    if (topology === this.#topology) return;
    this.#topology = topology;
    for (const service of this.#indexer.hintedServices) {
      const { namespace, name: serviceName } = parseObjectName(service);
      mark(namespace, serviceName, { kind: 'topology' });
    }
  }

  #podsOnNode(node: string, mark: Mark): void {
    for (const { pod, labels } of this.#indexer.podsOnNode(node)) {
      for (const service of this.#indexer.selectors.servicesFor(pod.namespace, labels)) {
        mark(pod.namespace, service, { kind: 'pod', name: pod.name });
      }
    }
  }

  #endpoints(event: ObjectEvent<'endpoints'>, mark: Mark): void {
    const { namespace, name, oldObject, newObject, manager, isOwnWrite } = event;
    const uid = newObject?.metadata.uid ?? oldObject?.metadata.uid ?? '';
    // Users write Endpoints too.
    const isWatchEcho = newObject !== undefined && isOwnWrite === true;
    mark(namespace, name, { kind: 'endpoints', uid, manager, isWatchEcho });
  }

  #slice({ name, oldObject, newObject, manager, undecodableOf }: ObjectEvent<'endpointslices'>, mark: Mark): void {
    if (undecodableOf !== undefined) {
      const { namespace, name: service } = parseObjectName(undecodableOf);
      mark(namespace, service, { kind: 'snapshot', initial: true });
    }
    const oldService = oldObject && serviceOfSlice(oldObject);
    const newService = newObject && serviceOfSlice(newObject);
    const markSlice = (service: string, uid = '', relabelled = false) => {
      const { namespace, name: serviceName } = parseObjectName(service);
      const labelledFor = relabelled ? (newObject?.metadata.labels?.[serviceNameLabel] ?? '') : undefined;
      const isWatchEcho = newObject !== undefined && manager === undefined && !relabelled;
      mark(namespace, serviceName, { kind: 'slice', name, uid, relabelled, labelledFor, manager, isWatchEcho });
    };
    if (oldService !== undefined && oldService !== newService) {
      const oldUid = oldObject?.metadata.uid;
      markSlice(oldService, oldUid, newObject !== undefined && newObject.metadata.uid === oldUid);
    }
    if (newService !== undefined) markSlice(newService, newObject?.metadata.uid);
  }
}
