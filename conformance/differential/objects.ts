import type { Json, JsonObject } from '@sluice/shadow';
import type { Reference, Resource } from './api-client.ts';

/** Objects as users and kubelets write them. Parameters hold the relevant fields; the rest is filled in. */

export interface Named {
  readonly namespace: string;
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export function reference(resource: Resource, { namespace, name }: Pick<Named, 'namespace' | 'name'>): Reference {
  return { resource, namespace, name };
}

function metadata({ namespace, name, labels, annotations }: Named): JsonObject {
  return { namespace, name, ...(labels && { labels }), ...(annotations && { annotations }) };
}

export function namespaceObject(name: string): JsonObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

export interface PortSpec {
  readonly name?: string;
  readonly port: number;
  readonly targetPort?: number | string;
  readonly protocol?: 'TCP' | 'UDP' | 'SCTP';
  readonly appProtocol?: string;
}

/** Without `selector`, a Service with user-managed Endpoints. */
export function serviceObject(named: Named & { readonly spec: JsonObject }): JsonObject {
  return { apiVersion: 'v1', kind: 'Service', metadata: metadata(named), spec: named.spec };
}

/** `ports` in the form of the Service API. */
export function portSpecs(...ports: readonly PortSpec[]): Json {
  return ports.map((port) => ({ ...port }));
}

export interface PodSpec extends Named {
  /** Empty: not scheduled. */
  readonly nodeName: string;
  readonly hostname?: string;
  readonly subdomain?: string;
  /** Ports of the main container, by name. */
  readonly ports?: Readonly<Record<string, number>>;
  /** Ports of a sidecar, by name. */
  readonly sidecarPorts?: Readonly<Record<string, number>>;
  readonly finalizers?: readonly string[];
}

export function podObject(pod: PodSpec): JsonObject {
  const container = (name: string, ports: Readonly<Record<string, number>> | undefined): JsonObject => ({
    name,
    image: 'registry.k8s.io/pause:3.10',
    ports: Object.entries(ports ?? {}).map(([portName, containerPort]) => ({ name: portName, containerPort })),
  });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata(pod), ...(pod.finalizers && { finalizers: pod.finalizers }) },
    spec: {
      containers: [container('main', pod.ports)],
      ...(pod.sidecarPorts && {
        initContainers: [{ ...container('sidecar', pod.sidecarPorts), restartPolicy: 'Always' }],
      }),
      ...(pod.nodeName !== '' && { nodeName: pod.nodeName }),
      ...(pod.hostname !== undefined && { hostname: pod.hostname }),
      ...(pod.subdomain !== undefined && { subdomain: pod.subdomain }),
    },
  };
}

export interface PodStatus {
  readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed';
  readonly ips: readonly string[];
  readonly ready: boolean;
  /** Time of the last change of readiness. */
  readonly since: string;
}

/** The status that a kubelet reports, as a patch. */
export function podStatus({ phase, ips, ready, since }: PodStatus): JsonObject {
  const [podIP] = ips;
  return {
    status: {
      phase,
      podIP: podIP ?? null,
      podIPs: ips.map((ip) => ({ ip })),
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: since }],
    },
  };
}

export interface NodeSpec {
  readonly name: string;
  readonly zone: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export function nodeObject({ name, zone, labels }: NodeSpec): JsonObject {
  const zoneLabel = zone === '' ? {} : { 'topology.kubernetes.io/zone': zone };
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { ...zoneLabel, ...labels } } };
}

export function nodeStatus(ready: boolean, cpu: string): JsonObject {
  return {
    status: {
      allocatable: { cpu, memory: '8Gi', pods: '110' },
      capacity: { cpu, memory: '8Gi', pods: '110' },
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: '2026-01-01T00:00:00Z' }],
    },
  };
}

export function endpointsObject(named: Named & { readonly subsets: Json }): JsonObject {
  return { apiVersion: 'v1', kind: 'Endpoints', metadata: metadata(named), subsets: named.subsets };
}

export function sliceObject(
  named: Named & { readonly addressType: string; readonly endpoints: Json; readonly ports: Json },
): JsonObject {
  const { addressType, endpoints, ports } = named;
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: metadata(named),
    addressType,
    endpoints,
    ports,
  };
}
