import { timestamp } from '@sluice/fake-apiserver';
import type { RawObject } from '@sluice/kubernetes';
import { suffix } from './names.ts';
import type { SimulationContext } from './simulation-context.ts';

const zones = ['europe-west1-b', 'europe-west1-c', 'europe-west1-d'];
const nodesPerZone = 2;

export interface SimulatedNode {
  readonly name: string;
  readonly zone: string;
  /** Pods of this Node get addresses in 10.244.`subnet`.0/24 and fd00:10:244:`subnet`::/64. */
  readonly subnet: number;
  readonly ip: string;
  readonly controlPlane: boolean;
  ready: boolean;
}

/** One control-plane Node and two workers in each of three zones. */
export class Nodes {
  readonly #context: SimulationContext;
  readonly #nodes = new Map<string, SimulatedNode>();
  #subnets = 0;

  constructor(context: SimulationContext) {
    this.#context = context;
  }

  populate(): void {
    this.#join('control-plane', zones[0] ?? '', true);
    for (let i = 0; i < nodesPerZone; i++) for (const zone of zones) this.join(zone);
  }

  /** Adds a worker. */
  join(zone: string): SimulatedNode {
    return this.#join(`worker-${zone.slice(-1)}-${suffix(this.#context.random, 4)}`, zone, false);
  }

  get(name: string): SimulatedNode | undefined {
    return this.#nodes.get(name);
  }

  workers(): readonly SimulatedNode[] {
    return [...this.#nodes.values()].filter((node) => !node.controlPlane);
  }

  setReady(node: SimulatedNode, ready: boolean): void {
    node.ready = ready;
    const status = nodeStatus(node, this.#context.clock.now());
    this.#context.attempt((api) => api.patch('nodes', '', node.name, { status }, { subresource: 'status' }));
    const description = ready ? 'is Ready again' : 'stopped responding and is NotReady';
    this.#context.report({ kind: 'Node', namespace: '', name: node.name, description });
  }

  remove(node: SimulatedNode): void {
    this.#nodes.delete(node.name);
    this.#context.attempt((api) => api.delete('nodes', '', node.name));
    this.#context.report({ kind: 'Node', namespace: '', name: node.name, description: 'was removed from the cluster' });
  }

  #join(name: string, zone: string, controlPlane: boolean): SimulatedNode {
    const subnet = this.#subnets++;
    const ip = `192.168.${(subnet >> 8) & 255}.${(subnet & 255) + 1}`;
    const node = { name, zone, subnet, ip, controlPlane, ready: true };
    this.#nodes.set(name, node);
    this.#context.attempt((api) => api.create('nodes', nodeObject(node, this.#context.clock.now())));
    this.#context.report({ kind: 'Node', namespace: '', name, description: `joined in zone ${zone}` });
    return node;
  }
}

function podCIDRs({ subnet }: SimulatedNode): readonly [string, string] {
  return [`10.244.${subnet % 256}.0/24`, `fd00:10:244:${(subnet % 65536).toString(16)}::/64`];
}

function nodeObject(node: SimulatedNode, now: number): RawObject {
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

function nodeStatus(node: SimulatedNode, now: number): RawObject {
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
