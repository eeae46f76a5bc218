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
  nodeTopology,
  reconcileEndpointSlices,
  reconcileEndpoints,
  type ServiceHints,
  type TriggerTimes,
} from '@sluice/controllers';
import {
  type Mutation,
  type PodOnNode,
  projectEndpointSlice,
  projectEndpoints,
  projectNode,
  projectPod,
  projectService,
  serviceNameLabel,
} from '@sluice/model';
import { ClusterIndex } from './cluster-index.ts';
import { plainObject } from './plain-object.ts';
import { WorkQueue } from './work-queue.ts';

type Raw = KubernetesObject;

const retryMs = 500;

/**
 * The EndpointSlice and Endpoints controllers as an expert would build them with @kubernetes/client-node: informers, indexes by Service,
 * a rate-limited work queue with 20 workers, no limit on requests, and no sync for events that change nothing, such as watch echoes of own
 * writes. It decides with the functions of Sluice, so that a comparison shows what Sluice's watch, state and writes are worth. The
 * library keeps each whole object in memory beside the index, and cannot strip it before.
 */
export class InformerLoop {
  readonly #core: CoreV1Api;
  readonly #discovery: DiscoveryV1Api;
  readonly #config: KubeConfig;
  readonly #index = new ClusterIndex();
  readonly #nodes = new Map<string, ReturnType<typeof projectNode>>();
  #topology = nodeTopology([]);
  readonly #triggers = new Map<string, TriggerTimes | null>();
  readonly #hints = new Map<string, ServiceHints | null>();
  readonly #queue = new WorkQueue((key) => this.#reconcile(key));
  #isSynced = false;

  constructor(config: KubeConfig) {
    this.#config = config;
    this.#core = config.makeApiClient(CoreV1Api);
    this.#discovery = config.makeApiClient(DiscoveryV1Api);
  }

  /** Starts the informers, and reconciles from the time their caches are synced. */
  async start(): Promise<void> {
    const [core, index] = [this.#core, this.#index];
    const nodesChanged = () => {
      this.#topology = nodeTopology(this.#nodes.values());
      return [];
    };
    await Promise.all([
      this.#watch('/api/v1/nodes', () => core.listNode(), {
        set: (raw) => {
          this.#nodes.set(raw.metadata?.name ?? '', projectNode(plainObject(raw)));
          return nodesChanged();
        },
        delete: (raw) => {
          this.#nodes.delete(raw.metadata?.name ?? '');
          return nodesChanged();
        },
      }),
      this.#watch('/api/v1/services', () => core.listServiceForAllNamespaces(), {
        set: (raw) => index.setService(projectService(plainObject(raw))),
        delete: (raw) => index.deleteService(namedOf(raw)),
      }),
      this.#watch('/api/v1/pods', () => core.listPodForAllNamespaces(), {
        set: (raw) => index.setPod(projectPod(plainObject(raw))),
        delete: (raw) => index.deletePod(namedOf(raw)),
      }),
      this.#watch('/api/v1/endpoints', () => core.listEndpointsForAllNamespaces(), {
        set: (raw) => index.setEndpoints(projectEndpoints(plainObject(raw))),
        delete: (raw) => index.deleteEndpoints(namedOf(raw)),
      }),
      this.#watch(
        '/apis/discovery.k8s.io/v1/endpointslices',
        () => this.#discovery.listEndpointSliceForAllNamespaces(),
        {
          set: (raw) => index.setSlice(projectEndpointSlice(plainObject(raw))),
          delete: ({ metadata }) =>
            index.deleteSlice(`${metadata?.namespace}/${metadata?.labels?.[serviceNameLabel]}`, metadata?.name ?? ''),
        },
      ),
    ]);
    this.#isSynced = true;
    this.#enqueue(index.serviceKeys);
  }

  async #watch(
    path: string,
    list: () => Promise<KubernetesListObject<Raw>>,
    { set, delete: remove }: Apply,
  ): Promise<void> {
    const informer: Informer<Raw> = makeInformer(this.#config, path, list);
    informer.on('add', (raw) => this.#enqueue(set(raw)));
    informer.on('update', (raw) => this.#enqueue(set(raw)));
    informer.on('delete', (raw) => this.#enqueue(remove(raw)));
    informer.on('error', () => void setTimeout(() => void informer.start(), retryMs));
    await informer.start();
  }

  #enqueue(keys: readonly string[]): void {
    if (!this.#isSynced) return;
    for (const key of keys) this.#queue.add(key);
  }

  async #reconcile(key: string): Promise<void> {
    const service = this.#index.service(key);
    if (service === undefined) {
      this.#triggers.delete(key);
      this.#hints.delete(key);
      return;
    }
    const pods = [...this.#index.podsOf(key)].map(({ pod }): PodOnNode => {
      const node = this.#nodes.get(pod.nodeName);
      return { pod, node: node === undefined ? null : { zone: node.zone } };
    });
    const triggers = this.#triggers.get(key) ?? null;
    const decided = reconcileEndpointSlices({
      ...{ service, pods, slices: this.#index.slicesOf(key), triggers, maxEndpointsPerSlice: 100 },
      topology: this.#topology,
      hints: this.#hints.get(key) ?? null,
    });
    const existing = this.#index.endpointsOf(key);
    const legacy = reconcileEndpoints({ service, pods, existing, orphaned: false, triggers });
    for (const { mutations } of [...decided.plan.groups, ...legacy.plan.groups])
      for (const mutation of mutations) await this.#write(key, service.namespace, mutation);
    this.#triggers.set(key, decided.triggers);
    this.#hints.set(key, decided.hints);
  }

  /** The answer goes into the index at once, so that the next decision does not repeat the write. */
  async #write(key: string, namespace: string, mutation: Mutation): Promise<void> {
    if (mutation.verb === 'delete') {
      const { name } = mutation;
      if (mutation.resource === 'endpoints') {
        await this.#core.deleteNamespacedEndpoints({ namespace, name });
        this.#index.deleteEndpoints({ namespace, name });
      } else {
        await this.#discovery.deleteNamespacedEndpointSlice({ namespace, name });
        this.#index.deleteSlice(key, name);
      }
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
      this.#index.setEndpoints(projectEndpoints(plainObject(stored)));
    } else {
      const stored =
        verb === 'create'
          ? await this.#discovery.createNamespacedEndpointSlice({ namespace, body })
          : await this.#discovery.replaceNamespacedEndpointSlice({ namespace, name, body });
      this.#index.setSlice(projectEndpointSlice(plainObject(stored)));
    }
  }
}

/** What an informer calls; returns the keys of the Services to sync. */
interface Apply {
  readonly set: (raw: Raw) => readonly string[];
  readonly delete: (raw: Raw) => readonly string[];
}

const namedOf = ({ metadata }: Raw) => ({ namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' });
