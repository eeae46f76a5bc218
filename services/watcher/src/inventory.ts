import {
  type EndpointSlice,
  type Endpoints,
  endpointSliceController,
  endpointSliceMirroringController,
  managedByLabel,
  type Node,
  type NodeTopology,
  nodeTopology,
  type Pod,
  type Service,
  ServiceSelectorCache,
  type StringMap,
  serviceNameLabel,
} from '@sluice/controllers';

export interface WatchedPod {
  readonly pod: Pod;
  readonly labels: StringMap;
}

/** Name of a namespaced object within a cluster: `namespace/name`. */
export type ObjectName = string;

export const objectName = (namespace: string, name: string): ObjectName => `${namespace}/${name}`;

/** What the watcher knows of one cluster, as projections, with the indexes that routing needs. */
export class Inventory {
  readonly services = new Map<ObjectName, Service>();
  readonly endpoints = new Map<ObjectName, Endpoints>();
  readonly nodes = new Map<string, Node>();
  readonly selectors = new ServiceSelectorCache();
  readonly #pods = new Map<string, Map<string, WatchedPod>>();
  readonly #podsByNode = new Map<string, Set<WatchedPod>>();
  readonly #slices = new Map<ObjectName, EndpointSlice>();
  readonly #slicesByService = new Map<ObjectName, Map<string, EndpointSlice>>();
  /** Pods by the Services that select them; undefined until all Services and Pods are in. */
  #members: Map<ObjectName, Map<string, WatchedPod>> | undefined;
  #topology: NodeTopology | undefined;
  #nodesSeen = false;

  setService(service: Service): void {
    const key = objectName(service.namespace, service.name);
    const sameSelector = equalSelectors(this.services.get(key)?.selector ?? null, service.selector);
    this.services.set(key, service);
    if (sameSelector) return;
    this.selectors.update(service.namespace, service.name, service.selector);
    if (this.#members === undefined) return;
    this.#members.delete(key);
    for (const watched of this.#pods.get(service.namespace)?.values() ?? []) {
      if (service.selector !== null && selects(service.selector, watched.labels)) this.#join(key, watched);
    }
  }

  deleteService(namespace: string, name: string): void {
    this.services.delete(objectName(namespace, name));
    this.selectors.delete(namespace, name);
    this.#members?.delete(objectName(namespace, name));
  }

  /** Pods that a Service selects, by name. */
  membersOf(service: ObjectName): ReadonlyMap<string, WatchedPod> {
    this.#members ??= this.#allMembers();
    return this.#members.get(service) ?? none;
  }

  pod(namespace: string, name: string): WatchedPod | undefined {
    return this.#pods.get(namespace)?.get(name);
  }

  podsOn(node: string): Iterable<WatchedPod> {
    return this.#podsByNode.get(node) ?? [];
  }

  get podNames(): Iterable<ObjectName> {
    return [...this.#pods].flatMap(([namespace, pods]) => [...pods.keys()].map((name) => objectName(namespace, name)));
  }

  setPod(watched: WatchedPod): void {
    const { namespace, name, nodeName } = watched.pod;
    this.deletePod(namespace, name);
    entry(this.#pods, namespace, () => new Map<string, WatchedPod>()).set(name, watched);
    if (nodeName !== '') entry(this.#podsByNode, nodeName, () => new Set<WatchedPod>()).add(watched);
    if (this.#members === undefined) return;
    for (const service of this.selectors.servicesFor(namespace, watched.labels)) {
      this.#join(objectName(namespace, service), watched);
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
    if (this.#members === undefined) return;
    for (const service of this.selectors.servicesFor(namespace, old.labels)) {
      this.#members.get(objectName(namespace, service))?.delete(name);
    }
  }

  /** In one pass over the Pods, which costs less than asking for each Service which Pods it selects. */
  #allMembers(): Map<ObjectName, Map<string, WatchedPod>> {
    const members = new Map<ObjectName, Map<string, WatchedPod>>();
    for (const [namespace, pods] of this.#pods) {
      for (const [name, watched] of pods) {
        for (const service of this.selectors.servicesFor(namespace, watched.labels)) {
          entry(members, objectName(namespace, service), () => new Map()).set(name, watched);
        }
      }
    }
    return members;
  }

  #join(service: ObjectName, watched: WatchedPod): void {
    if (this.#members === undefined) return;
    entry(this.#members, service, () => new Map<string, WatchedPod>()).set(watched.pod.name, watched);
  }

  slice(namespace: string, name: string): EndpointSlice | undefined {
    return this.#slices.get(objectName(namespace, name));
  }

  get sliceNames(): Iterable<ObjectName> {
    return this.#slices.keys();
  }

  /** Whether the Service, its Endpoints or a slice of it is there. */
  has(namespace: string, service: string): boolean {
    const name = objectName(namespace, service);
    return this.services.has(name) || this.endpoints.has(name) || this.slicesOf(name).size > 0;
  }

  /** Services that have slices, existing or not. */
  get servicesWithSlices(): Iterable<ObjectName> {
    return this.#slicesByService.keys();
  }

  slicesOf(service: ObjectName): ReadonlyMap<string, EndpointSlice> {
    return this.#slicesByService.get(service) ?? new Map();
  }

  setSlice(slice: EndpointSlice, service: ObjectName): void {
    const { namespace, name } = slice.metadata;
    this.deleteSlice(namespace, name);
    this.#slices.set(objectName(namespace, name), slice);
    entry(this.#slicesByService, service, () => new Map<string, EndpointSlice>()).set(name, slice);
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

  /** `unnoticed`: zone ratios stay as they are until the next Node is noticed. */
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
   * Zone ratios of the cluster's Nodes (F2), worked out when first asked for after a change. Of a cluster that never had
   * a Node, upstream says that there is one zone at most (F3), not that it knows too little.
   */
  get topology(): NodeTopology {
    if (!this.#nodesSeen) return { zoneRatios: {}, nodesByZone: {} };
    this.#topology ??= nodeTopology([...this.nodes.values()]);
    return this.#topology;
  }
}

const none: ReadonlyMap<string, WatchedPod> = new Map();

/** C9: an empty selector matches every Pod. */
function selects(selector: StringMap, labels: StringMap): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

/** Whether two selectors ask for the same labels. Null, none, differs from empty, everything. */
export function equalSelectors(a: StringMap | null, b: StringMap | null): boolean {
  if (a === null || b === null) return a === b;
  return Object.keys(a).length === Object.keys(b).length && selects(a, b);
}

const managers = new Set([endpointSliceController, endpointSliceMirroringController]);

/** The Service whose slice this is, if it is one that the controllers manage (E4, E5). */
export function serviceOfSlice(slice: EndpointSlice): ObjectName | undefined {
  const labels = slice.metadata.labels;
  const service = labels?.[serviceNameLabel];
  if (!service || !managers.has(labels?.[managedByLabel] ?? '')) return undefined;
  return objectName(slice.metadata.namespace, service);
}

function entry<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}
