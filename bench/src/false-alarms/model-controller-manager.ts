import { controllers, defaultPolicy, descriptorOf, selectorMatches } from '@sluice/controllers';
import { type FakeApiServer, isStatusError, type StoredObject } from '@sluice/fake-apiserver';
import type { RawObject } from '@sluice/kubernetes';
import {
  type Controller,
  type Mutation,
  managedByLabel,
  type PodOnNode,
  projectEndpointSlice,
  projectEndpoints,
  projectPod,
  projectService,
  type Service,
  type StringMap,
  serviceNameLabel,
} from '@sluice/model';
import { type Clock, getOrCreate } from '@sluice/platform';

interface KnownPod extends PodOnNode {
  readonly labels: StringMap;
}

/** Between two writes: 20 a second, as by default. */
const paceMs = 50;

/** Writes Endpoints and EndpointSlices of a fake API server as kube-controller-manager does, from decisions of Sluice that parity tests compare with it. */
export class ModelControllerManager {
  readonly #server: FakeApiServer;
  readonly #clock: Clock;
  /** By namespace and name. */
  readonly #services = new Map<string, Map<string, Service>>();
  readonly #pods = new Map<string, Map<string, KnownPod>>();
  /** Names of slices, by NAMESPACE/SERVICE. */
  readonly #slices = new Map<string, Set<string>>();
  readonly #deleted = new Set<string>();
  readonly #queue = new Set<string>();
  #isRunning = true;
  #isScheduled = false;

  constructor(server: FakeApiServer, clock: Clock) {
    this.#server = server;
    this.#clock = clock;
    server.onCommit((resource, { type, object, previous }) => {
      if (resource === 'pods') this.#observePod(object, type === 'DELETED');
      else if (resource === 'services') this.#observeService(object, type === 'DELETED');
      else if (resource === 'endpoints') this.#enqueue(`${object.metadata.namespace}/${object.metadata.name}`);
      else if (resource === 'endpointslices') this.#observeSlice(object, previous, type === 'DELETED');
    });
  }

  /** Nothing is written: the leader is gone, or the API server. */
  stop(): void {
    this.#isRunning = false;
  }

  /** Another one leads. It lists everything. */
  start(): void {
    this.#isRunning = true;
    for (const [namespace, services] of this.#services)
      for (const name of services.keys()) this.#enqueue(`${namespace}/${name}`);
    for (const service of this.#deleted) this.#enqueue(service);
  }

  #observePod(object: StoredObject, isDeleted: boolean): void {
    const { namespace = '', name } = object.metadata;
    const pods = getOrCreate(this.#pods, namespace, () => new Map<string, KnownPod>());
    const before = pods.get(name);
    const { pod, labels } = projectPod(object);
    if (isDeleted) pods.delete(name);
    else pods.set(name, { pod, labels, node: { zone: 'a' } });
    for (const service of this.#services.get(namespace)?.values() ?? []) {
      const isSelected = [labels, before?.labels].some((one) => one && selectorMatches(service.selector, one));
      if (isSelected) this.#enqueue(`${namespace}/${service.name}`);
    }
  }

  #observeService(object: StoredObject, isDeleted: boolean): void {
    const { namespace = '', name } = object.metadata;
    const key = `${namespace}/${name}`;
    const services = getOrCreate(this.#services, namespace, () => new Map<string, Service>());
    if (isDeleted) {
      services.delete(name);
      this.#deleted.add(key);
    } else {
      services.set(name, projectService(object));
      this.#deleted.delete(key);
    }
    this.#enqueue(key);
  }

  #observeSlice(object: StoredObject, previous: StoredObject | undefined, isDeleted: boolean): void {
    for (const one of [previous, object]) {
      const service = one?.metadata.labels?.[serviceNameLabel];
      if (one === undefined || service === undefined) continue;
      const key = `${one.metadata.namespace}/${service}`;
      const slices = getOrCreate(this.#slices, key, () => new Set<string>());
      if (isDeleted || one !== object) slices.delete(one.metadata.name);
      else slices.add(one.metadata.name);
      this.#enqueue(key);
    }
  }

  #enqueue(service: string): void {
    this.#queue.add(service);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || !this.#isRunning || this.#queue.size === 0) return;
    this.#isScheduled = true;
    this.#clock.schedule(paceMs, () => {
      this.#isScheduled = false;
      const [next] = this.#queue;
      if (next === undefined || !this.#isRunning) return;
      this.#queue.delete(next);
      this.#sync(next);
      this.#schedule();
    });
  }

  #sync(key: string): void {
    const [namespace = '', name = ''] = key.split('/');
    for (const controller of controllers) {
      try {
        for (const mutation of this.#decide(controller, namespace, name)) this.#apply(namespace, mutation);
      } catch (error) {
        // The namespace is being deleted.
        if (!isStatusError(error)) throw error;
      }
    }
    this.#deleted.delete(key);
  }

  #decide(controller: Controller, namespace: string, name: string): readonly Mutation[] {
    const { reconcile, managedBy } = descriptorOf(controller);
    const service = this.#services.get(namespace)?.get(name) ?? null;
    const pods = [...(this.#pods.get(namespace)?.values() ?? [])].filter(
      ({ labels }) => service !== null && selectorMatches(service.selector, labels),
    );
    const endpoints = this.#find('endpoints', namespace, name);
    const slices = [...(this.#slices.get(`${namespace}/${name}`) ?? [])]
      .flatMap((slice) => this.#find('endpointslices', namespace, slice) ?? [])
      .filter(({ metadata }) => metadata.labels?.[managedByLabel] === managedBy);
    const { plan } = reconcile({
      ...{ service, pods, slices: slices.map(projectEndpointSlice) },
      endpoints: endpoints === undefined ? null : projectEndpoints(endpoints),
      orphaned: this.#deleted.has(`${namespace}/${name}`),
      ...{ topology: null, triggers: null, hints: null, policy: defaultPolicy },
      ...{ maxEndpointsPerSlice: 100, maxEndpointsPerSubset: 1_000 },
    });
    return plan.groups.flatMap(({ mutations }) => mutations);
  }

  #find(resource: 'endpoints' | 'endpointslices', namespace: string, name: string): StoredObject | undefined {
    try {
      return this.#server.get(resource, namespace, name);
    } catch (error) {
      if (!isStatusError(error)) throw error;
      return undefined;
    }
  }

  #apply(namespace: string, mutation: Mutation): void {
    const { resource, verb } = mutation;
    if (verb === 'delete') {
      this.#server.delete(resource, namespace, mutation.name);
      return;
    }
    const object: RawObject = { ...mutation.object };
    if (verb === 'create') this.#server.create(resource, object);
    else this.#server.update(resource, object);
  }
}
