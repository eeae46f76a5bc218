import {
  CoreV1Api,
  DiscoveryV1Api,
  type Informer,
  type KubeConfig,
  type KubernetesListObject,
  type KubernetesObject,
  makeInformer,
} from '@kubernetes/client-node';
import {
  type Mutation,
  nodeTopology,
  type PodOnNode,
  projectEndpointSlice,
  projectEndpoints,
  projectNode,
  projectPod,
  projectService,
  reconcileEndpointSlices,
  reconcileEndpoints,
  type Service,
  type ServiceHints,
  selectorMatches,
  serviceNameLabel,
  type TriggerTimes,
} from '@sluice/controllers';
import { plainObject } from './plain-object.ts';

type Raw = KubernetesObject;
/** Objects as their informer delivered them, by namespace and name. */
type Cache<T> = Map<string, T>;

/** Services that are reconciled at once, as in kube-controller-manager by default. */
const workers = 5;
const retryMs = 500;

/**
 * The EndpointSlice and Endpoints controllers as most people would build them: informers of @kubernetes/client-node, a work queue,
 * and a loop that lists the Pods of a Service from the cache, decides and writes. It decides with the functions of Sluice, so
 * that a comparison shows what Sluice's watch, state and writes are worth.
 */
export class InformerLoop {
  readonly #core: CoreV1Api;
  readonly #discovery: DiscoveryV1Api;
  readonly #config: KubeConfig;
  readonly #services: Cache<Service> = new Map();
  readonly #pods: Cache<ReturnType<typeof projectPod>> = new Map();
  readonly #nodes: Cache<ReturnType<typeof projectNode>> = new Map();
  readonly #slices: Cache<ReturnType<typeof projectEndpointSlice>> = new Map();
  readonly #endpoints: Cache<ReturnType<typeof projectEndpoints>> = new Map();
  readonly #triggers = new Map<string, TriggerTimes | null>();
  readonly #hints = new Map<string, ServiceHints | null>();
  readonly #queue = new Set<string>();
  readonly #running = new Set<string>();
  #isSynced = false;

  constructor(config: KubeConfig) {
    this.#config = config;
    this.#core = config.makeApiClient(CoreV1Api);
    this.#discovery = config.makeApiClient(DiscoveryV1Api);
  }

  /** Starts the informers, and reconciles from the time their caches are synced. */
  async start(): Promise<void> {
    const core = this.#core;
    await Promise.all([
      this.#watch(
        '/api/v1/nodes',
        () => core.listNode(),
        projectNode,
        this.#nodes,
        () => {},
      ),
      this.#watch(
        '/api/v1/services',
        () => core.listServiceForAllNamespaces(),
        projectService,
        this.#services,
        (raw) => this.#enqueue(keyOf(raw)),
      ),
      this.#watch(
        '/api/v1/pods',
        () => core.listPodForAllNamespaces(),
        projectPod,
        this.#pods,
        (raw) => this.#enqueueServicesOf(raw),
      ),
      this.#watch(
        '/api/v1/endpoints',
        () => core.listEndpointsForAllNamespaces(),
        projectEndpoints,
        this.#endpoints,
        (raw) => this.#enqueue(keyOf(raw)),
      ),
      this.#watch(
        '/apis/discovery.k8s.io/v1/endpointslices',
        () => this.#discovery.listEndpointSliceForAllNamespaces(),
        projectEndpointSlice,
        this.#slices,
        ({ metadata }) => this.#enqueue(`${metadata?.namespace}/${metadata?.labels?.[serviceNameLabel]}`),
      ),
    ]);
    this.#isSynced = true;
    for (const key of this.#services.keys()) this.#enqueue(key);
  }

  async #watch<T>(
    path: string,
    list: () => Promise<KubernetesListObject<Raw>>,
    project: (raw: unknown) => T,
    cache: Cache<T>,
    onChange: (raw: Raw) => void,
  ): Promise<void> {
    const informer: Informer<Raw> = makeInformer(this.#config, path, list);
    const store = (raw: Raw) => {
      cache.set(keyOf(raw), project(plainObject(raw)));
      onChange(raw);
    };
    informer.on('add', store);
    informer.on('update', store);
    informer.on('delete', (raw) => {
      cache.delete(keyOf(raw));
      onChange(raw);
    });
    informer.on('error', () => void setTimeout(() => void informer.start(), retryMs));
    await informer.start();
  }

  #enqueueServicesOf({ metadata }: Raw): void {
    for (const [key, { namespace, selector }] of this.#services) {
      if (namespace !== metadata?.namespace || selector === null) continue;
      if (selectorMatches(selector, metadata.labels ?? {})) this.#enqueue(key);
    }
  }

  #enqueue(key: string): void {
    if (!this.#isSynced || !this.#services.has(key)) return;
    this.#queue.add(key);
    this.#work();
  }

  #work(): void {
    for (const key of this.#queue) {
      if (this.#running.size >= workers) return;
      if (this.#running.has(key)) continue;
      this.#queue.delete(key);
      this.#running.add(key);
      void this.#reconcile(key)
        .catch(() => setTimeout(() => this.#enqueue(key), retryMs))
        .finally(() => {
          this.#running.delete(key);
          this.#work();
        });
    }
  }

  async #reconcile(key: string): Promise<void> {
    const service = this.#services.get(key);
    if (service === undefined) return;
    const pods = this.#podsOf(service);
    const { namespace, name } = service;
    const slices = [...this.#slices.values()].filter(
      ({ metadata }) => metadata.namespace === namespace && metadata.labels?.[serviceNameLabel] === name,
    );
    const triggers = this.#triggers.get(key) ?? null;
    const decided = reconcileEndpointSlices({
      ...{ service, pods, slices, triggers, maxEndpointsPerSlice: 100 },
      topology: nodeTopology(this.#nodes.values()),
      hints: this.#hints.get(key) ?? null,
    });
    const existing = this.#endpoints.get(key) ?? null;
    const legacy = reconcileEndpoints({ service, pods, existing, orphaned: false, triggers });
    for (const { mutations } of [...decided.plan.groups, ...legacy.plan.groups])
      for (const mutation of mutations) await this.#write(namespace, mutation);
    this.#triggers.set(key, decided.triggers);
    this.#hints.set(key, decided.hints);
  }

  /** As a lister without an index does. */
  #podsOf({ namespace, selector }: Service): PodOnNode[] {
    const found: PodOnNode[] = [];
    for (const { pod, labels } of this.#pods.values()) {
      if (pod.namespace !== namespace || !selectorMatches(selector, labels)) continue;
      const node = this.#nodes.get(`/${pod.nodeName}`);
      found.push({ pod, node: node === undefined ? null : { zone: node.zone } });
    }
    return found;
  }

  /** The answer goes into the cache at once, so that the next decision does not repeat the write. */
  async #write(namespace: string, mutation: Mutation): Promise<void> {
    if (mutation.verb === 'delete') {
      const { name } = mutation;
      if (mutation.resource === 'endpoints') await this.#core.deleteNamespacedEndpoints({ namespace, name });
      else await this.#discovery.deleteNamespacedEndpointSlice({ namespace, name });
      return;
    }
    const { verb, resource, object } = mutation;
    const { name } = object.metadata;
    // The client wants times as Date, and the API server ignores this one. Its types know no readonly fields.
    const body = { ...object, metadata: { ...object.metadata, creationTimestamp: undefined } } as never;
    if (resource === 'endpoints') {
      const stored =
        verb === 'create'
          ? await this.#core.createNamespacedEndpoints({ namespace, body })
          : await this.#core.replaceNamespacedEndpoints({ namespace, name, body });
      this.#endpoints.set(keyOf(stored), projectEndpoints(plainObject(stored)));
    } else {
      const stored =
        verb === 'create'
          ? await this.#discovery.createNamespacedEndpointSlice({ namespace, body })
          : await this.#discovery.replaceNamespacedEndpointSlice({ namespace, name, body });
      this.#slices.set(keyOf(stored), projectEndpointSlice(plainObject(stored)));
    }
  }
}

const keyOf = ({ metadata }: Raw): string => `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
