/** The measured cluster: Services with the same number of Pods each, spread over namespaces. */
export interface Shape {
  readonly services: number;
  readonly pods: number;
  /** Default: `defaultNamespaces`, or one for each Service if there are fewer Services. */
  readonly namespaces?: number;
  /** Services have no selector and user-managed Endpoints instead of Pods. */
  readonly custom?: boolean;
  /** Default: 10. */
  readonly nodes?: number;
}

/**
 * At each sync of a Service, kube-controller-manager lists all Pods of its namespace. With all Services in one namespace a comparison
 * would measure that list.
 */
export const defaultNamespaces = 50;
export const NODES = 10;

const ZONES = ['zone-a', 'zone-b', 'zone-c'];
/** Maximum number of addresses in Endpoints; further Pods are left out. */
export const endpointsCapacity = 1000;

/** For tables. */
export function shapeTitle(shape: Shape): string {
  const { services, pods } = shape;
  const spread =
    services === 1
      ? ''
      : `, ${namespaceNames(shape).length === 1 ? 'one namespace' : `${namespaceNames(shape).length} namespaces`}`;
  return `${services} ${services === 1 ? 'Service' : 'Services'} × ${pods} Pods${spread}`;
}

export function namespaceNames({ services, namespaces = defaultNamespaces }: Shape): readonly string[] {
  return Array.from({ length: Math.min(namespaces, services) }, (_, index) => `bench-${index}`);
}

/** A Service of the bench. Names differ over all namespaces. */
export interface BenchService {
  readonly namespace: string;
  readonly name: string;
}

export function benchServices(shape: Shape): readonly BenchService[] {
  const namespaces = namespaceNames(shape);
  return Array.from({ length: shape.services }, (_, index) => ({
    namespace: namespaces[index % namespaces.length] ?? '',
    name: `service-${index}`,
  }));
}

export const serviceNames = (shape: Shape): readonly string[] => benchServices(shape).map(({ name }) => name);

/** Whether an object belongs to the bench. */
export const isBenchNamespace = (namespace: string): boolean => namespace.startsWith('bench-');

export const namespaceObject = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
});

/** Number of addresses in the complete Endpoints of each Service. */
export function completeEndpoints({ pods }: Shape): number {
  return Math.min(pods, endpointsCapacity);
}

export function nodeObjects(nodes = NODES): readonly object[] {
  return Array.from({ length: nodes }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: nodeName(index),
      labels: {
        'kubernetes.io/hostname': nodeName(index),
        'topology.kubernetes.io/zone': ZONES[index % ZONES.length] ?? '',
      },
    },
    status: {
      allocatable: { cpu: '8', memory: '32Gi', pods: '600' },
      conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
    },
  }));
}

export function serviceObjects(shape: Shape): readonly object[] {
  return benchServices(shape).map(({ namespace, name }) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, labels: { app: name } },
    spec: { ...(!shape.custom && { selector: { app: name } }), ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
  }));
}

/** A Pod of the bench. */
export interface BenchPod {
  readonly namespace: string;
  readonly name: string;
  readonly service: string;
  /** Index over all Pods of the shape. */
  readonly index: number;
  /** Index of its Node. Default: the Pods are spread over ten Nodes. */
  readonly node?: number;
}

export function benchPods(shape: Shape): readonly BenchPod[] {
  return benchServices(shape).flatMap(({ namespace, name: service }, outer) =>
    Array.from({ length: shape.pods }, (_, inner) => {
      const index = outer * shape.pods + inner;
      return { namespace, name: `${service}-${inner}`, service, index, node: index % (shape.nodes ?? NODES) };
    }),
  );
}

/** The Pod as its kubelet would write it, of typical size. `at`: Kubernetes timestamp of the last readiness transition. */
export function podObject(
  { namespace, name, service, index, node = index % NODES }: BenchPod,
  ready: boolean,
  at: string,
): object {
  const started = { type: 'Initialized', status: 'True', lastTransitionTime: at };
  const status = ready ? 'True' : 'False';
  const address = `10.${1 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { app: service, 'pod-template-hash': '5d4f7b9c6' } },
    spec: {
      nodeName: nodeName(node),
      containers: [
        {
          name: 'web',
          image: 'registry.example/web:1.0.0',
          ports: [{ name: 'http', containerPort: 8080 }],
          resources: { requests: { cpu: '100m', memory: '64Mi' } },
          readinessProbe: { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 5 },
        },
      ],
    },
    status: {
      phase: 'Running',
      hostIP: `192.168.${node >> 8}.${node & 255}`,
      podIP: address,
      podIPs: [{ ip: address }],
      startTime: at,
      conditions: [
        started,
        { ...started, type: 'PodScheduled' },
        { type: 'ContainersReady', status, lastTransitionTime: at },
        { type: 'Ready', status, lastTransitionTime: at },
      ],
      containerStatuses: [
        {
          name: 'web',
          ready,
          started: true,
          restartCount: 0,
          image: 'registry.example/web:1.0.0',
          imageID: 'sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
          state: { running: { startedAt: at } },
        },
      ],
    },
  };
}

function nodeName(index: number): string {
  return `node-${index}`;
}
