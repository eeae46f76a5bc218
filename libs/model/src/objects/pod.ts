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
}
