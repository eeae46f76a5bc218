import { isOlderVersion, type Resource } from '@sluice/kubernetes';
import type { EndpointSlice, WrittenResource } from '@sluice/model';
import type { DecodedObject } from './decode-object.ts';
import { type Indexer, serviceOfSlice } from './indexer.ts';
import { type ObjectEvent, type ObjectName, objectName, parseObjectName } from './object-event.ts';
import type { Router } from './router.ts';

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
