import { isOlderVersion, type Resource } from '@sluice/kubernetes';
import type { Cause } from '@sluice/messages';
import { type EndpointSlice, serviceNameLabel, type WrittenResource } from '@sluice/model';
import type { DirtyReason } from './dirty-set.ts';
import { equalSelectors, type Indexer } from './indexer.ts';
import {
  type DecodedObject,
  describeEvent,
  type ObjectEvent,
  type ObjectName,
  objectName,
  parseObjectName,
  serviceOfSlice,
} from './watched-objects.ts';

interface ObjectIdentity {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Turns decoded objects into events by comparison with the indexer, updates the indexer, and routes each event to the
 * Services it concerns.
 */
export class EventHandler {
  readonly #indexer: Indexer;
  readonly #router: Router;

  constructor(indexer: Indexer, router: Router) {
    this.#indexer = indexer;
    this.#router = router;
  }

  /**
   * Name of a listed object that contradicts the indexer, which was complete up to resourceVersion `reached`: an object that
   * was last written before that is not indexed, or not with this version. Undefined if there is none.
   */
  contradiction<R extends WrittenResource>(
    resource: R,
    objects: readonly DecodedObject<R>[],
    reached: string,
  ): ObjectName | undefined {
    const found = objects.find(({ namespace, name, resourceVersion, object }) => {
      if (object === undefined || isOlderVersion(reached, resourceVersion)) return false;
      if (resource === 'endpointslices' && serviceOfSlice(object as EndpointSlice) === undefined) return false;
      return this.#indexer.get(resource, namespace, name)?.metadata.resourceVersion !== resourceVersion;
    });
    return found && objectName(found.namespace, found.name);
  }

  /** Handles a complete list: indexed objects that it lacks were deleted. */
  replace<R extends Resource>(resource: R, objects: readonly DecodedObject<R>[], observedAt: number): void {
    const missing = this.#indexer.namesOf(resource);
    for (const object of objects) {
      missing.delete(objectName(object.namespace, object.name));
      this.upsert(resource, object, observedAt);
    }
    for (const name of missing) this.delete(resource, parseObjectName(name), observedAt);
  }

  /** What is kept of this object now: its last valid version, or the fact that it cannot be decoded. Undefined: nothing. */
  kept<R extends Resource>(resource: R, { namespace, name }: ObjectIdentity): Partial<DecodedObject<R>> | undefined {
    const object = this.#indexer.get(resource, namespace, name);
    if (object !== undefined) return { namespace, name, object };
    if (!this.#indexer.hasUndecodable(resource, namespace, name)) return undefined;
    const service = resource === 'endpointslices' ? this.#indexer.serviceOfUndecodable(namespace, name) : undefined;
    return { namespace, name, ...(service !== undefined && { service }) };
  }

  /** Handles an added or modified object. */
  upsert<R extends Resource>(resource: R, decoded: DecodedObject<R>, observedAt: number): void {
    const { namespace, name, object: newObject, manager, isOwnWrite } = decoded;
    if (newObject === undefined) return this.#addUndecodable(resource, decoded, observedAt);
    const oldObject = this.#indexer.get(resource, namespace, name);
    // Most Pod updates (annotations, container statuses, other conditions) change nothing that endpoints depend on.
    if (resource === 'pods' && oldObject !== undefined && isSameProjection(oldObject, newObject)) return;
    const type = oldObject === undefined ? 'added' : 'modified';
    const undecodableOf =
      resource === 'endpointslices' ? this.#indexer.serviceOfUndecodable(namespace, name) : undefined;
    this.#handle({
      resource,
      type,
      namespace,
      name,
      oldObject,
      newObject,
      manager,
      isOwnWrite,
      undecodableOf,
      observedAt,
    } as ObjectEvent);
  }

  #addUndecodable(resource: Resource, { namespace, name, service }: DecodedObject, observedAt: number): void {
    if (!this.#indexer.addUndecodable(resource, namespace, name, service) || resource !== 'nodes') return;
    // Its Pods were without a Node before.
    this.#router.apply({
      resource,
      type: 'added',
      namespace,
      name,
      oldObject: undefined,
      newObject: undefined,
      observedAt,
    });
  }

  delete(resource: Resource, { namespace, name }: ObjectIdentity, observedAt: number): void {
    const oldObject = this.#indexer.get(resource, namespace, name);
    const wasUndecodable = this.#indexer.hasUndecodable(resource, namespace, name);
    const undecodableOf =
      resource === 'endpointslices' ? this.#indexer.serviceOfUndecodable(namespace, name) : undefined;
    const deleted = { type: 'deleted', newObject: undefined, wasUndecodable, undecodableOf };
    this.#handle({ resource, namespace, name, oldObject, observedAt, ...deleted } as ObjectEvent);
  }

  #handle(event: ObjectEvent): void {
    this.#indexer.apply(event);
    this.#router.apply(event);
  }
}

/** Whether two projections are equal. Most Pod events end here, so nothing is allocated. */
function isSameProjection(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  let members = 0;
  for (const name in a) {
    if (!(name in b) || !isSameProjection(a[name as keyof typeof a], b[name as keyof typeof b])) return false;
    members++;
  }
  for (const _ in b) members--;
  return members === 0;
}

type MarkDirty = (namespace: string, service: string, reason: DirtyReason, cause: Cause) => void;

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
    const isMoved = oldObject?.zone !== newObject?.zone || oldObject === newObject;
    if (isMoved || oldObject?.condition !== newObject?.condition) this.#podsOnNode(name, mark);
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
