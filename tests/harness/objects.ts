import type { RawObject } from '@sluice/kubernetes';

/** Objects as users, the scheduler and kubelets write them. */

export const namespace = 'shop';

export function nodeObject(name: string, zone: string, { ready = true, cpu = '4' } = {}): RawObject {
  return {
    metadata: { name, labels: zone === '' ? {} : { 'topology.kubernetes.io/zone': zone } },
    status: { allocatable: { cpu }, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  };
}

export interface GivenPod {
  readonly name: string;
  /** Default: the namespace of the other objects. */
  readonly namespace?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly ips: readonly string[];
  readonly ready: boolean;
  readonly node: string;
  /** Time of the last change of readiness, RFC 3339. */
  readonly since: string;
  readonly uid?: string;
  readonly phase?: string;
  /** Number of the container port named `http`. Default: no such port. */
  readonly httpPort?: number;
}

export function podObject(given: GivenPod): RawObject {
  const { name, labels, ips, ready, node, since, uid, phase = 'Running', httpPort } = given;
  const { namespace: ofPod = namespace } = given;
  const ports = httpPort === undefined ? [] : [{ name: 'http', containerPort: httpPort, protocol: 'TCP' }];
  return {
    metadata: { name, namespace: ofPod, labels, ...(uid !== undefined && { uid }) },
    spec: { nodeName: node, containers: [{ name: 'main', image: 'x', ports }] },
    status: {
      phase,
      ...(ips[0] !== undefined && { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) }),
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: since }],
    },
  };
}
