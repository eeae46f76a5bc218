/** What the controllers need of a core/v1 Pod. Its labels stay with the watcher, which alone matches selectors. */
export interface Pod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** `status.podIP`; empty if none. */
  readonly ip: string;
  /** `status.podIPs[].ip`, as given (normalised when used, C6). */
  readonly ips: readonly string[];
  readonly nodeName: string;
  readonly hostname: string;
  readonly subdomain: string;
  /** Phase `Failed` or `Succeeded` (C2). */
  readonly terminal: boolean;
  /** A deletionTimestamp is set. */
  readonly terminating: boolean;
  /** C1. */
  readonly ready: boolean;
  /** RFC 3339 `lastTransitionTime` of the Ready condition (C15); null if there is none. */
  readonly readyTransitionTime: string | null;
  /** Named ports in the order in which C5 searches them: containers, then restartable init containers. */
  readonly ports: readonly NamedPort[];
}

export interface NamedPort {
  readonly name: string;
  readonly protocol: string;
  readonly containerPort: number;
}

/** A Pod joined with its Node. */
export interface PodOnNode {
  readonly pod: Pod;
  /** Null: the Node does not exist, or not yet (E15). */
  readonly node: NodePlacement | null;
}

export interface NodePlacement {
  /** Label `topology.kubernetes.io/zone`; empty if the Node has none. */
  readonly zone: string;
}
