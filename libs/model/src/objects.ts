/** The part of a core/v1 Service that the controllers need. */
export interface Service {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** RFC 3339, or empty. The Service's own trigger time (C15). */
  readonly creationTimestamp: string;
  /** Has a deletionTimestamp. */
  readonly deleting: boolean;
  readonly labels: StringMap;
  /** Only the two annotations that enable topology hints (F1). */
  readonly annotations: StringMap;
  readonly type: string;
  /** Null: no selector, so endpoints are managed by users. Empty: selects every Pod of the namespace (C9). */
  readonly selector: StringMap | null;
  readonly clusterIP: string;
  readonly ipFamilies: readonly string[];
  readonly ports: readonly ServicePort[];
  readonly publishNotReadyAddresses: boolean;
  readonly trafficDistribution: string | null;
  /** Both decide nothing here, but say which endpoints proxies use. Absent: `Cluster`, the default. */
  readonly internalTrafficPolicy?: string;
  readonly externalTrafficPolicy?: string;
}

export interface ServicePort {
  readonly name: string;
  readonly protocol: string;
  readonly port: number;
  /** A number, or the name of a container port (C5). */
  readonly targetPort: number | string;
  readonly appProtocol: string | null;
}

/** Whether the Service has a cluster IP. One without is headless, and its objects carry the headless label. */
export function isServiceIpSet(service: Service): boolean {
  return service.clusterIP !== '' && service.clusterIP !== 'None';
}

/** The part of a core/v1 Pod that the controllers need. Labels stay in the watcher, which matches selectors. */
export interface Pod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** `status.podIP`, or empty. */
  readonly ip: string;
  /** `status.podIPs[].ip`, unnormalised (C6). */
  readonly ips: readonly string[];
  readonly nodeName: string;
  readonly hostname: string;
  readonly subdomain: string;
  /** Phase `Failed` or `Succeeded` (C2). */
  readonly terminal: boolean;
  /** Has a deletionTimestamp. */
  readonly terminating: boolean;
  /** Whether the first Ready condition is true (C1). */
  readonly ready: boolean;
  /** `lastTransitionTime` of the Ready condition in RFC 3339, or null (C15). */
  readonly readyTransitionTime: string | null;
  /** The Ready condition if it is not True, for people; absent if it is True or missing. */
  readonly unready?: UnreadyCondition;
  /** Named ports in lookup order (C5): containers, then restartable init containers. */
  readonly ports: readonly NamedPort[];
  /** In recordings of `observe`; of others, if they say why the Pod is not as it should be. */
  readonly details?: PodDetails;
}

/** What explains the changes of a Pod, for people. */
export interface PodDetails {
  /** The controller that owns it: `ReplicaSet web-5d9`; empty: none. */
  readonly owner: string;
  /** Reason of the condition DisruptionTarget, for example `EvictionByEvictionAPI`; empty: it is not disrupted. */
  readonly disruption: string;
  /** `terminationGracePeriodSeconds`. */
  readonly gracePeriodSeconds: number;
  /** The preStop hook of each container: `sleep 5 s`, `exec`, `httpGet` or `tcpSocket`; empty: none. */
  readonly preStop: readonly string[];
  /** Containers that are not ready or were restarted: `app: waiting (CrashLoopBackOff), 3 restarts`. */
  readonly containers: readonly string[];
  /** Why it has no Node: `Unschedulable: 0/3 nodes are available`; absent if it has one. */
  readonly unscheduled?: string;
}

export interface UnreadyCondition {
  /** `False` or `Unknown`. */
  readonly status: string;
  /** For example `ContainersNotReady`. */
  readonly reason: string;
  /** Cut to 200 characters. */
  readonly message: string;
}

export interface NamedPort {
  readonly name: string;
  readonly protocol: string;
  readonly containerPort: number;
}

/** A Pod joined with its Node. */
export interface PodOnNode {
  readonly pod: Pod;
  /** Null if the Node does not exist (E15). */
  readonly node: NodePlacement | null;
}

export interface NodePlacement {
  /** Label `topology.kubernetes.io/zone`, or empty. */
  readonly zone: string;
  /** As in Node. */
  readonly condition?: string;
}

/** The part of a core/v1 Node that the controllers need: its zone and the inputs of the topology ratios (F2). */
export interface Node {
  readonly name: string;
  /** Label `topology.kubernetes.io/zone`, or empty. */
  readonly zone: string;
  readonly ready: boolean;
  /** Has a `control-plane` or `master` role label and is therefore excluded from topology hints. */
  readonly controlPlane: boolean;
  /** Allocatable CPU in millicores, rounded up (L6). */
  readonly allocatableMilliCpu: number;
  /**
   * For people: `not ready (NodeStatusUnknown), unschedulable, taint node.kubernetes.io/unreachable:NoExecute`; absent or empty: it is
   * as it should be.
   */
  readonly condition?: string;
}

/** What topology hints need to know about the Nodes of a cluster (F2). */
export interface NodeTopology {
  /** Share of each zone in the allocatable CPU, or null if the Nodes lack information. */
  readonly zoneRatios: ZoneShares | null;
  /**
   * Number of ready Nodes outside the control plane, per zone. Nodes without a zone are counted under the empty name.
   */
  readonly nodesByZone: ZoneCounts;
}

export type ZoneShares = Readonly<Record<string, number>>;
export type ZoneCounts = Readonly<Record<string, number>>;

export type AddressType = 'IPv4' | 'IPv6' | 'FQDN';

/** `discovery.k8s.io/v1` EndpointSlice. Written back as a whole, so fields unknown to Sluice are preserved. */
export interface EndpointSlice {
  readonly metadata: ObjectMeta;
  readonly addressType: AddressType;
  readonly endpoints?: readonly Endpoint[] | null;
  readonly ports?: readonly EndpointPort[] | null;
}

export interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions?: EndpointConditions;
  readonly hostname?: string;
  readonly targetRef?: ObjectReference;
  readonly deprecatedTopology?: StringMap;
  readonly nodeName?: string;
  readonly zone?: string;
  readonly hints?: EndpointHints;
}

export interface EndpointConditions {
  readonly ready?: boolean | null;
  readonly serving?: boolean | null;
  readonly terminating?: boolean | null;
}

export interface EndpointHints {
  readonly forZones?: readonly { readonly name: string }[];
  readonly forNodes?: readonly { readonly name: string }[];
}

/** A null field equals a missing one; a null name differs from an empty one (C25). */
export interface EndpointPort {
  readonly name?: string | null;
  readonly protocol?: string | null;
  readonly port?: number | null;
  readonly appProtocol?: string | null;
}

/** core/v1 Endpoints. */
export interface Endpoints {
  readonly metadata: ObjectMeta;
  readonly subsets?: readonly EndpointSubset[] | null;
}

export interface EndpointSubset {
  readonly addresses?: readonly EndpointAddress[] | null;
  readonly notReadyAddresses?: readonly EndpointAddress[] | null;
  readonly ports?: readonly EndpointsPort[] | null;
}

export interface EndpointAddress {
  readonly ip: string;
  readonly hostname?: string;
  readonly nodeName?: string | null;
  readonly targetRef?: ObjectReference | null;
}

/** A port of an Endpoints subset. Unlike a slice port's, its name is empty rather than null. */
export interface EndpointsPort {
  readonly name?: string;
  readonly port: number;
  readonly protocol?: string;
  readonly appProtocol?: string | null;
}

/** Object metadata as stored by the API server, without `managedFields` (A8). */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly generateName?: string;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
}

export type StringMap = Readonly<Record<string, string>>;

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ObjectReference {
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly apiVersion?: string;
  readonly resourceVersion?: string;
  readonly fieldPath?: string;
}

/**
 * Compares resourceVersions of one resource type of one cluster, which are integers of arbitrary length (KEP-5504).
 * Negative if `a` is older. Anything else counts as older than every number.
 */
export function compareResourceVersions(a: string, b: string): number {
  const left = significant(a);
  const right = significant(b);
  if (left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : left > right ? 1 : 0;
}

function significant(version: string): string {
  return /^[0-9]+$/.test(version) ? version.replace(/^0+/, '') : '';
}
