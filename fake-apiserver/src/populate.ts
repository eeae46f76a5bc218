import type { RawObject } from '@sluice/kubernetes';
import { timestamp } from './server/names.ts';
import type { ResourceName } from './server/resources.ts';

/** Stores objects without applying any rules. FakeApiServer implements it. */
export interface SeedableApi {
  put(resource: ResourceName, object: RawObject): unknown;
}

export interface PopulateOptions {
  readonly services: number;
  readonly podsPerService: number;
  /** Services are spread over this many namespaces; 1 by default. */
  readonly namespaces?: number;
  /** Nodes in three zones; 30 by default. */
  readonly nodes?: number;
  /** Creation time in milliseconds since the Unix epoch; 0 by default. */
  readonly now?: number;
}

export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

export interface Population {
  readonly services: readonly NamespacedName[];
  /** Name of Pod number `index` of Service number `service`. */
  pod(service: number, index: number): NamespacedName;
  /** The object of that Pod with the given readiness (ready by default), to store it again. */
  podObject(service: number, index: number, ready?: boolean): RawObject;
}

/** Creates Services with ready Pods at once. The addresses of up to 2^24 Pods are unique. */
export function populate(api: SeedableApi, options: PopulateOptions): Population {
  const { namespaces = 1, nodes = 30, now = 0, podsPerService } = options;
  const creationTimestamp = timestamp(now);
  for (let i = 0; i < namespaces; i++)
    api.put('namespaces', { metadata: { name: namespaceName(i), creationTimestamp }, status: { phase: 'Active' } });
  for (let i = 0; i < nodes; i++) api.put('nodes', nodeObject(i, creationTimestamp));
  const services = Array.from({ length: options.services }, (_, i) => ({
    namespace: namespaceName(i % namespaces),
    name: `svc-${String(i).padStart(5, '0')}`,
  }));
  const place = (service: number): NamespacedName => services[service] ?? { namespace: '', name: '' };
  const pod = (service: number, index: number): NamespacedName => {
    const { namespace, name } = place(service);
    return { namespace, name: `${name}-${index}` };
  };
  const podObject = (service: number, index: number, ready = true): RawObject => {
    const number = service * podsPerService + index;
    const nodeName = nodes === 0 ? '' : `node-${number % nodes}`;
    return readyPod(pod(service, index), place(service).name, number, nodeName, ready, creationTimestamp);
  };
  for (const [i, at] of services.entries()) {
    api.put('services', serviceObject(at, i, creationTimestamp));
    for (let j = 0; j < podsPerService; j++) api.put('pods', podObject(i, j));
  }
  return { services, pod, podObject };
}

function namespaceName(index: number): string {
  return `bench-${index}`;
}

function nodeObject(index: number, creationTimestamp: string): RawObject {
  const name = `node-${index}`;
  return {
    metadata: {
      name,
      creationTimestamp,
      labels: { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': `zone-${'abc'[index % 3]}` },
    },
    status: {
      allocatable: { cpu: '8', memory: '32Gi' },
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: creationTimestamp }],
    },
  };
}

function serviceObject({ namespace, name }: NamespacedName, index: number, creationTimestamp: string): RawObject {
  const clusterIP = `10.${100 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`;
  return {
    metadata: { namespace, name, creationTimestamp, labels: { app: name } },
    spec: {
      type: 'ClusterIP',
      selector: { app: name },
      clusterIP,
      clusterIPs: [clusterIP],
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 'http' }],
    },
  };
}

function readyPod(
  { namespace, name }: NamespacedName,
  app: string,
  number: number,
  nodeName: string,
  ready: boolean,
  time: string,
): RawObject {
  const podIP = `11.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;
  return {
    metadata: { namespace, name, creationTimestamp: time, labels: { app } },
    spec: {
      ...(nodeName === '' ? {} : { nodeName }),
      containers: [
        { name: 'app', image: 'app:1.0.0', ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] },
      ],
    },
    status: {
      phase: 'Running',
      podIP,
      podIPs: [{ ip: podIP }],
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: time }],
    },
  };
}
