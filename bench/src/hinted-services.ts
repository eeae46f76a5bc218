import type { ApiClient } from './api-client.ts';
import { each, kubernetesTime, podStatusPath, podsPath } from './populate.ts';
import {
  type BenchPod,
  type BenchService,
  isBenchNamespace,
  NODES,
  namespaceNames,
  namespaceObject,
  nodeObjects,
  podObject,
} from './shape.ts';

/** Number of hinted Services that the change of the ratios overloads, of those that it does not, and of Services without hints. */
export interface HintedShape {
  readonly overloaded: number;
  readonly balanced: number;
  readonly unrelated: number;
}

/**
 * Pods by zone. With equal zones, each hint is for the zone of its endpoint. Once zone c has 40 % of the CPU, seven endpoints
 * need three hints for it (F3, F14).
 */
const PODS = { overloaded: [3, 2, 2], balanced: [2, 2, 3], unrelated: [2, 2, 3] } as const;
type Kind = keyof typeof PODS;
const KINDS: readonly Kind[] = ['overloaded', 'balanced', 'unrelated'];
const ZONES = ['zone-a', 'zone-b', 'zone-c'] as const;
/** Three in each zone; a tenth one would be in the first. */
const USED_NODES = NODES - 1;
/** A Node of zone c. */
const CHANGED_NODE = 2;
/** Of 8 per Node at first. With more, zone c has 32 of 80 instead of 24 of 72. */
const CPU: Readonly<Record<NodeCpu, string>> = { initial: '8', more: '16', none: '0' };

/** Allocatable CPU of one Node: as at first, more of it, or none, which makes hints impossible (F2). */
export type NodeCpu = 'initial' | 'more' | 'none';

export interface HintedPopulation {
  readonly unrelatedPods: readonly BenchPod[];
  setCpu(cpu: NodeCpu): Promise<void>;
  /** Deletes all slices, for the next measurement. */
  deleteSlices(): Promise<void>;
  /** Names of hinted Services whose hints do not fit this CPU. */
  wrongServices(cpu: NodeCpu): Promise<readonly string[]>;
}

export const kindOf = (service: string): string => service.slice(0, service.indexOf('-'));

/** Creates the Nodes, Services and Pods. */
export async function populateHinted(client: ApiClient, shape: HintedShape): Promise<HintedPopulation> {
  const at = kubernetesTime(Date.now());
  const names = KINDS.flatMap((kind) => Array.from({ length: shape[kind] }, (_, n) => `${kind}-${n}`));
  const namespaces = namespaceNames({ services: names.length, pods: 0 });
  const services = names.map((name, index) => ({ namespace: namespaces[index % namespaces.length] ?? '', name }));
  const pods = podsOf(services);
  const nodes = nodeObjects().slice(0, USED_NODES);

  await each(namespaces.map(namespaceObject), (object) => client.post('/api/v1/namespaces', object));
  await each(nodes, (node) => client.post('/api/v1/nodes', node));
  await each(services, (service) =>
    client.post(`/api/v1/namespaces/${service.namespace}/services`, serviceObject(service)),
  );
  await each(pods, async (pod) => {
    const object = podObject(pod, true, at);
    await client.post(podsPath(pod), object);
    await client.put(podStatusPath(pod), object);
  });

  const list = async () => {
    const { items } = JSON.parse((await client.get(slicesPath())).body) as { readonly items: readonly Slice[] };
    return items.filter(({ metadata }) => isBenchNamespace(metadata.namespace));
  };
  return {
    unrelatedPods: pods.filter(({ service }) => kindOf(service) === 'unrelated'),
    async setCpu(to) {
      const { metadata, ...node } = nodes[CHANGED_NODE] as ChangedNode;
      const { allocatable, ...status } = node.status;
      const changed = { ...node, metadata, status: { ...status, allocatable: { ...allocatable, cpu: CPU[to] } } };
      await client.put(`/api/v1/nodes/${metadata.name}/status`, changed);
    },
    async deleteSlices() {
      await each(await list(), ({ metadata }) => client.delete(slicesPath(metadata)));
    },
    async wrongServices(cpu) {
      const right = new Set((await list()).filter((slice) => fits(slice, cpu)).map(serviceOf));
      return names.filter((name) => kindOf(name) !== 'unrelated' && !right.has(name));
    },
  };
}

interface ChangedNode {
  readonly metadata: { readonly name: string };
  readonly status: { readonly allocatable: object };
}

const slicesPath = (slice?: { readonly namespace: string; readonly name: string }): string =>
  `/apis/discovery.k8s.io/v1${slice === undefined ? '/endpointslices' : `/namespaces/${slice.namespace}/endpointslices/${slice.name}`}`;

interface Slice {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly endpoints:
    | readonly { readonly hints?: { readonly forZones?: readonly { readonly name: string }[] } }[]
    | null;
}

const serviceOf = ({ metadata }: Slice): string => metadata.labels['kubernetes.io/service-name'] ?? '';

/** Whether the slice has the number of hints for each zone that follow from this CPU. */
function fits(slice: Slice, cpu: NodeCpu): boolean {
  const zones = (slice.endpoints ?? []).flatMap(({ hints }) => hints?.forZones?.map(({ name }) => name) ?? []);
  if (cpu === 'none') return zones.length === 0;
  const wanted = PODS[cpu === 'more' ? 'balanced' : (kindOf(serviceOf(slice)) as Kind)];
  return ZONES.every((zone, i) => zones.filter((hinted) => hinted === zone).length === wanted[i]);
}

function serviceObject({ namespace, name }: BenchService): object {
  const annotations = kindOf(name) === 'unrelated' ? {} : { 'service.kubernetes.io/topology-mode': 'Auto' };
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, labels: { app: name }, annotations },
    spec: { selector: { app: name }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
  };
}

/** A Pod's Node follows from its index: the n-th Pod of a zone is on one of the zone's three Nodes. */
function podsOf(services: readonly BenchService[]): readonly BenchPod[] {
  const perZone = USED_NODES / ZONES.length;
  const pods = ZONES.map(() => 0);
  const nextIndex = (zone: number): number => {
    const n = pods[zone] ?? 0;
    pods[zone] = n + 1;
    return Math.floor(n / perZone) * NODES + (n % perZone) * ZONES.length + zone;
  };
  return services.flatMap(({ namespace, name: service }) =>
    PODS[kindOf(service) as Kind].flatMap((count, zone) =>
      Array.from({ length: count }, (_, n) => ({
        namespace,
        name: `${service}-${ZONES[zone]}-${n}`,
        service,
        index: nextIndex(zone),
      })),
    ),
  );
}
