import { hintsEnabled, nodeTopology, ServiceSelectorCache, selectorMatches } from '@sluice/controllers';
import type { Resource } from '@sluice/kubernetes';
import type { SimilarPods } from '@sluice/messages';
import {
  type EndpointSlice,
  type Endpoints,
  equalStringMaps,
  type Node,
  type NodeTopology,
  type Service,
  type StringMap,
} from '@sluice/model';
import { getOrCreate } from '@sluice/platform';
import { findElsewhere, findSimilarPods, resembles } from './similar-pods.ts';
import {
  type ObjectEvent,
  type ObjectName,
  objectName,
  serviceOfSlice,
  type WatchedObjects,
  type WatchedPod,
} from './watched-objects.ts';

type PodsByService = Map<ObjectName, Map<string, WatchedPod>>;

/** Limit of the Services that are compared with a new Pod that none selects. */
const maxCompared = 100;

/** The projected objects of one cluster, with the indexes that routing and composing Changes need. */
export class Indexer {
  /** resourceVersion reached of each resource that was listed. */
  readonly resourceVersions = new Map<Resource, string>();
  readonly services = new Map<ObjectName, Service>();
  /** Services with topology hints enabled. */
  readonly hintedServices = new Set<ObjectName>();
  readonly endpoints = new Map<ObjectName, Endpoints>();
  readonly nodes = new Map<string, Node>();
  readonly selectors = new ServiceSelectorCache();
  readonly #pods = new Map<string, Map<string, WatchedPod>>();
  readonly #podsByNode = new Map<string, Set<WatchedPod>>();
  readonly #slices = new Map<ObjectName, EndpointSlice>();
  /** Objects that exist although no valid version of them is indexed, by resource. */
  readonly #undecodable = new Map<Resource, Set<ObjectName>>();
  /** The Services of slices that exist although no valid version of them is indexed, by slice. */
  readonly #servicesOfUndecodable = new Map<ObjectName, ObjectName>();
  readonly #slicesByService = new Map<ObjectName, Map<string, EndpointSlice>>();
  /** Pods by the Services that select them; undefined until first used, which is after the initial lists. */
  #podsByService: PodsByService | undefined;
  #topology: NodeTopology | undefined;
  #nodesSeen = false;
  /** Resources that are not watched. */
  readonly unwatched: readonly Resource[];

  constructor(unwatched: readonly Resource[] = []) {
    this.unwatched = unwatched;
  }

  apply(event: ObjectEvent): void {
    const { namespace, name } = event;
    this.#undecodable.get(event.resource)?.delete(objectName(namespace, name));
    if (event.resource === 'endpointslices') this.#servicesOfUndecodable.delete(objectName(namespace, name));
    switch (event.resource) {
      case 'services':
        return event.newObject ? this.setService(event.newObject) : this.deleteService(namespace, name);
      case 'pods':
        return event.newObject ? this.setPod(event.newObject) : this.deletePod(namespace, name);
      case 'nodes':
        return event.newObject ? this.setNode(event.newObject) : this.deleteNode(name);
      case 'endpoints':
        if (event.newObject) this.endpoints.set(objectName(namespace, name), event.newObject);
        else this.endpoints.delete(objectName(namespace, name));
        return;
      case 'endpointslices':
        return event.newObject ? this.setSlice(event.newObject) : this.deleteSlice(namespace, name);
    }
  }

  get<R extends Resource>(resource: R, namespace: string, name: string): WatchedObjects[R] | undefined {
    return this.#lookups[resource](namespace, name);
  }

  readonly #lookups: { readonly [R in Resource]: (namespace: string, name: string) => WatchedObjects[R] | undefined } =
    {
      services: (namespace, name) => this.services.get(objectName(namespace, name)),
      pods: (namespace, name) => this.#pods.get(namespace)?.get(name),
      nodes: (_, name) => this.nodes.get(name),
      endpoints: (namespace, name) => this.endpoints.get(objectName(namespace, name)),
      endpointslices: (namespace, name) => this.#slices.get(objectName(namespace, name)),
    };

  /**
   * Records that an object exists but cannot be decoded. A valid version that is indexed stays in use. `service`: of a slice. Returns
   * whether nothing was known of the object.
   */
  addUndecodable(resource: Resource, namespace: string, name: string, service?: ObjectName): boolean {
    if (this.get(resource, namespace, name) !== undefined) return false;
    if (service !== undefined) this.#servicesOfUndecodable.set(objectName(namespace, name), service);
    if (this.hasUndecodable(resource, namespace, name)) return false;
    getOrCreate(this.#undecodable, resource, () => new Set<ObjectName>()).add(objectName(namespace, name));
    return true;
  }

  /** The Service of a slice that exists without a valid version in the index. */
  serviceOfUndecodable(namespace: string, name: string): ObjectName | undefined {
    return this.#servicesOfUndecodable.get(objectName(namespace, name));
  }

  /** Whether the object exists without a valid version in the index. */
  hasUndecodable(resource: Resource, namespace: string, name: string): boolean {
    return this.#undecodable.get(resource)?.has(objectName(namespace, name)) === true;
  }

  /**
   * Whether the Service, the Endpoints to be mirrored for it, or a slice of it exist but cannot be decoded. What is indexed of
   * such a Service is incomplete: published, it would read as a deletion.
   */
  isUndecodable(namespace: string, service: string): boolean {
    if (this.hasUndecodable('services', namespace, service)) return true;
    if (this.#servicesOfUndecodable.values().some((one) => one === objectName(namespace, service))) return true;
    const isMirrored = this.services.get(objectName(namespace, service))?.selector === null;
    return isMirrored && this.hasUndecodable('endpoints', namespace, service);
  }

  /** Names of all objects of a resource that are indexed or cannot be decoded. */
  namesOf(resource: Resource): Set<ObjectName> {
    return new Set([...this.#indexedNames(resource), ...(this.#undecodable.get(resource) ?? [])]);
  }

  #indexedNames(resource: Resource): Iterable<ObjectName> {
    switch (resource) {
      case 'services':
        return this.services.keys();
      case 'pods':
        return [...this.#pods].flatMap(([namespace, pods]) =>
          [...pods.keys()].map((name) => objectName(namespace, name)),
        );
      case 'nodes':
        return [...this.nodes.keys()].map((name) => objectName('', name));
      case 'endpoints':
        return this.endpoints.keys();
      case 'endpointslices':
        return this.#slices.keys();
    }
  }

  setService(service: Service): void {
    const key = objectName(service.namespace, service.name);
    const isSameSelector = equalSelectors(this.services.get(key)?.selector ?? null, service.selector);
    this.services.set(key, service);
    if (hintsEnabled(service.annotations)) this.hintedServices.add(key);
    else this.hintedServices.delete(key);
    if (isSameSelector) return;
    this.selectors.update(service.namespace, service.name, service.selector);
    if (this.#podsByService === undefined) return;
    this.#podsByService.delete(key);
    for (const watched of this.#pods.get(service.namespace)?.values() ?? []) {
      if (selectorMatches(service.selector, watched.labels)) addTo(this.#podsByService, key, watched);
    }
  }

  deleteService(namespace: string, name: string): void {
    this.services.delete(objectName(namespace, name));
    this.hintedServices.delete(objectName(namespace, name));
    this.selectors.delete(namespace, name);
    this.#podsByService?.delete(objectName(namespace, name));
  }

  /** Pods that a Service selects, by name. */
  podsOfService(service: ObjectName): ReadonlyMap<string, WatchedPod> {
    this.#podsByService ??= this.#indexByService();
    return this.#podsByService.get(service) ?? noPods;
  }

  /** If the Service selects no Pod: those whose labels resemble its selector, or that match it in another namespace. */
  similarPods({ namespace, name, selector }: Service): SimilarPods | undefined {
    if (selector === null || this.podsOfService(objectName(namespace, name)).size > 0) return undefined;
    const others = this.#pods.entries().filter(([other]) => other !== namespace);
    return (
      findSimilarPods(selector, this.#pods.get(namespace)?.values() ?? []) ??
      findElsewhere(
        selector,
        others.map(([other, pods]) => [other, pods.values()] as const),
      )
    );
  }

  /** Services without Pods whose selector resembles these labels; none in a namespace with very many Services. */
  resembling(namespace: string, labels: StringMap): readonly string[] {
    // Before the initial lists are complete, every Service would be without Pods.
    if (this.#podsByService === undefined) return [];
    return this.selectors.servicesOf(namespace, maxCompared).filter((name) => {
      const key = objectName(namespace, name);
      const selector = this.services.get(key)?.selector ?? null;
      return resembles(selector, labels) && this.podsOfService(key).size === 0;
    });
  }

  podsOnNode(node: string): Iterable<WatchedPod> {
    return this.#podsByNode.get(node) ?? [];
  }

  setPod(watched: WatchedPod): void {
    const { namespace, name, nodeName } = watched.pod;
    this.deletePod(namespace, name);
    getOrCreate(this.#pods, namespace, () => new Map<string, WatchedPod>()).set(name, watched);
    if (nodeName !== '') getOrCreate(this.#podsByNode, nodeName, () => new Set<WatchedPod>()).add(watched);
    if (this.#podsByService === undefined) return;
    for (const service of this.selectors.servicesFor(namespace, watched.labels)) {
      addTo(this.#podsByService, objectName(namespace, service), watched);
    }
  }

  deletePod(namespace: string, name: string): void {
    const pods = this.#pods.get(namespace);
    const old = pods?.get(name);
    if (pods === undefined || old === undefined) return;
    pods.delete(name);
    if (pods.size === 0) this.#pods.delete(namespace);
    const onNode = this.#podsByNode.get(old.pod.nodeName);
    onNode?.delete(old);
    if (onNode?.size === 0) this.#podsByNode.delete(old.pod.nodeName);
    if (this.#podsByService === undefined) return;
    for (const service of this.selectors.servicesFor(namespace, old.labels)) {
      this.#podsByService.get(objectName(namespace, service))?.delete(name);
    }
  }

  /** One pass over the Pods costs less than evaluating each Service's selector over all Pods. */
  #indexByService(): PodsByService {
    const index: PodsByService = new Map();
    for (const [namespace, pods] of this.#pods) {
      for (const watched of pods.values()) {
        for (const service of this.selectors.servicesFor(namespace, watched.labels)) {
          addTo(index, objectName(namespace, service), watched);
        }
      }
    }
    return index;
  }

  /** Whether the Service, its Endpoints or one of its slices exists. */
  has(namespace: string, service: string): boolean {
    const name = objectName(namespace, service);
    return this.services.has(name) || this.endpoints.has(name) || this.slicesOfService(name).size > 0;
  }

  /** Names of every Service that exists or has Endpoints or slices left. */
  serviceNames(): Set<ObjectName> {
    return new Set([...this.services.keys(), ...this.endpoints.keys(), ...this.#slicesByService.keys()]);
  }

  slicesOfService(service: ObjectName): ReadonlyMap<string, EndpointSlice> {
    return this.#slicesByService.get(service) ?? noSlices;
  }

  /** Slices that the controllers do not manage are not indexed. */
  setSlice(slice: EndpointSlice): void {
    const { namespace, name } = slice.metadata;
    this.deleteSlice(namespace, name);
    const service = serviceOfSlice(slice);
    if (service === undefined) return;
    this.#slices.set(objectName(namespace, name), slice);
    getOrCreate(this.#slicesByService, service, () => new Map<string, EndpointSlice>()).set(name, slice);
  }

  deleteSlice(namespace: string, name: string): void {
    const old = this.#slices.get(objectName(namespace, name));
    if (old === undefined) return;
    this.#slices.delete(objectName(namespace, name));
    const service = serviceOfSlice(old);
    if (service === undefined) return;
    const slices = this.#slicesByService.get(service);
    slices?.delete(name);
    if (slices?.size === 0) this.#slicesByService.delete(service);
  }

  setNode(node: Node): void {
    this.nodes.set(node.name, node);
    this.#nodesSeen = true;
    this.#topology = undefined;
  }

  deleteNode(name: string): void {
    this.nodes.delete(name);
    this.#topology = undefined;
  }

  /**
   * Zone ratios of the cluster's Nodes (F2), computed on first use after a change. For a cluster that never had a Node,
   * upstream reports "at most one zone" (F3), not "insufficient Node information", hence the empty ratios.
   */
  get topology(): NodeTopology {
    if (!this.#nodesSeen) return { zoneRatios: {}, nodesByZone: {} };
    this.#topology ??= nodeTopology([...this.nodes.values()]);
    return this.#topology;
  }
}

const noPods: ReadonlyMap<string, WatchedPod> = new Map();
const noSlices: ReadonlyMap<string, EndpointSlice> = new Map();

/** Whether two selectors are equal. Null (selects nothing) differs from empty (selects everything). */
export function equalSelectors(a: StringMap | null, b: StringMap | null): boolean {
  if (a === null || b === null) return a === b;
  return equalStringMaps(a, b);
}

function addTo(index: PodsByService, service: ObjectName, watched: WatchedPod): void {
  getOrCreate(index, service, () => new Map<string, WatchedPod>()).set(watched.pod.name, watched);
}
