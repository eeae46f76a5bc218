import { timestamp } from '@sluice/fake-apiserver';
import type { RawObject } from '@sluice/kubernetes';
import { suffix } from './names.ts';
import type { SimulationContext } from './simulation-context.ts';

export const zones = ['europe-west1-b', 'europe-west1-c', 'europe-west1-d'];
const nodesPerZone = 2;

export interface WorldNode {
  readonly name: string;
  readonly zone: string;
  /** Its Pods have addresses in 10.244.`subnet`.0/24 and fd00:10:244:`subnet`::/64. */
  readonly subnet: number;
  readonly ip: string;
  readonly controlPlane: boolean;
  ready: boolean;
}

/** The Nodes of a world: a control plane, and two workers in each of three zones. */
export class Nodes {
  readonly #stage: SimulationContext;
  readonly #nodes = new Map<string, WorldNode>();
  #subnets = 0;

  constructor(stage: SimulationContext) {
    this.#stage = stage;
  }

  populate(): void {
    this.#join('control-plane', zones[0] ?? '', true);
    for (let i = 0; i < nodesPerZone; i++) for (const zone of zones) this.join(zone);
  }

  /** Adds a worker. */
  join(zone: string): WorldNode {
    return this.#join(`worker-${zone.slice(-1)}-${suffix(this.#stage.random, 4)}`, zone, false);
  }

  get(name: string): WorldNode | undefined {
    return this.#nodes.get(name);
  }

  workers(): readonly WorldNode[] {
    return [...this.#nodes.values()].filter((node) => !node.controlPlane);
  }

  setReady(node: WorldNode, ready: boolean): void {
    node.ready = ready;
    const status = nodeStatus(node, this.#stage.clock.now());
    this.#stage.attempt((api) => api.patch('nodes', '', node.name, { status }, { subresource: 'status' }));
    const what = ready ? 'is Ready again' : 'stopped responding and is NotReady';
    this.#stage.tell({ kind: 'Node', namespace: '', name: node.name, what });
  }

  remove(node: WorldNode): void {
    this.#nodes.delete(node.name);
    this.#stage.attempt((api) => api.delete('nodes', '', node.name));
    this.#stage.tell({ kind: 'Node', namespace: '', name: node.name, what: 'was removed from the cluster' });
  }

  #join(name: string, zone: string, controlPlane: boolean): WorldNode {
    const subnet = this.#subnets++;
    const ip = `192.168.${(subnet >> 8) & 255}.${(subnet & 255) + 1}`;
    const node = { name, zone, subnet, ip, controlPlane, ready: true };
    this.#nodes.set(name, node);
    this.#stage.attempt((api) => api.create('nodes', nodeObject(node, this.#stage.clock.now())));
    this.#stage.tell({ kind: 'Node', namespace: '', name, what: `joined in zone ${zone}` });
    return node;
  }
}

export function podCIDRs({ subnet }: WorldNode): readonly [string, string] {
  return [`10.244.${subnet % 256}.0/24`, `fd00:10:244:${(subnet % 65536).toString(16)}::/64`];
}

function nodeObject(node: WorldNode, now: number): RawObject {
  const [podCIDR] = podCIDRs(node);
  return {
    metadata: {
      name: node.name,
      labels: {
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/os': 'linux',
        'kubernetes.io/hostname': node.name,
        'node.kubernetes.io/instance-type': 'n2-standard-8',
        'topology.kubernetes.io/region': node.zone.slice(0, -2),
        'topology.kubernetes.io/zone': node.zone,
        ...(node.controlPlane ? { 'node-role.kubernetes.io/control-plane': '' } : {}),
      },
    },
    spec: {
      podCIDR,
      podCIDRs: podCIDRs(node),
      ...(node.controlPlane
        ? { taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }] }
        : {}),
    },
    status: nodeStatus(node, now),
  };
}

function nodeStatus(node: WorldNode, now: number): RawObject {
  const time = timestamp(now);
  const condition = (type: string, status: string, reason: string) => ({
    type,
    status,
    reason,
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  });
  return {
    addresses: [
      { type: 'InternalIP', address: node.ip },
      { type: 'Hostname', address: node.name },
    ],
    allocatable: { cpu: '7910m', memory: '29Gi', pods: '110' },
    capacity: { cpu: '8', memory: '32Gi', pods: '110' },
    conditions: [
      condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory'),
      condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure'),
      node.ready ? condition('Ready', 'True', 'KubeletReady') : condition('Ready', 'Unknown', 'NodeStatusUnknown'),
    ],
    nodeInfo: { kubeletVersion: 'v1.37.1', osImage: 'Debian GNU/Linux 13', architecture: 'amd64' },
  };
}
