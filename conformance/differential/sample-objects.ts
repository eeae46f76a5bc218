import type { JsonObject } from '@sluice/shadow';
import * as objects from './objects.ts';
import { type PodSpec, type PodStatus, podObject, podStatus, portSpecs, reference } from './objects.ts';
import type { Pair } from './pair.ts';

export const namespace = 'shop';
export const since = '2026-01-01T00:00:00Z';

type ServiceSpec = {
  readonly spec: JsonObject;
  readonly labels?: Record<string, string>;
  annotations?: Record<string, string>;
};

const http = portSpecs({ name: 'http', port: 80, targetPort: 8080 });
const dualStack = { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] };

/** A Service of each kind that the three controllers distinguish. Selectors are `app: <name>`. */
export const services: Readonly<Record<string, ServiceSpec>> = {
  web: { spec: { selector: { app: 'web' }, ports: http }, labels: { team: 'a' } },
  headless: { spec: { clusterIP: 'None', selector: { app: 'headless' }, ports: http } },
  'headless-no-ports': { spec: { clusterIP: 'None', selector: { app: 'headless-no-ports' } } },
  dual: { spec: { ...dualStack, selector: { app: 'dual' }, ports: http } },
  'dual-headless': { spec: { ...dualStack, clusterIP: 'None', selector: { app: 'dual-headless' }, ports: http } },
  six: { spec: { ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack', selector: { app: 'six' }, ports: http } },
  external: { spec: { type: 'ExternalName', externalName: 'example.org', selector: { app: 'web' } } },
  'node-port': { spec: { type: 'NodePort', selector: { app: 'web' }, ports: http } },
  custom: { spec: { ports: http }, labels: { kept: 'by-a-user' } },
  'custom-two-families': { spec: { ...dualStack, ports: http } },
  'custom-not-mirrored': { spec: { ports: http } },
  ports: {
    spec: {
      selector: { app: 'ports' },
      ports: portSpecs(
        { name: 'http', port: 80, targetPort: 'http', appProtocol: 'http' },
        { name: 'metrics', port: 9090, targetPort: 'metrics' },
        { name: 'dns', port: 53, protocol: 'UDP' },
        { name: 'nowhere', port: 1, targetPort: 'no-such-port' },
      ),
    },
  },
  'not-ready-too': {
    spec: { publishNotReadyAddresses: true, clusterIP: 'None', selector: { app: 'not-ready-too' }, ports: http },
  },
  close: { spec: { trafficDistribution: 'PreferClose', selector: { app: 'web' }, ports: http } },
  'same-node': { spec: { trafficDistribution: 'PreferSameNode', selector: { app: 'web' }, ports: http } },
  auto: {
    spec: { selector: { app: 'auto' }, ports: http },
    annotations: { 'service.kubernetes.io/topology-mode': 'Auto' },
  },
  nobody: { spec: { selector: { app: 'nobody' }, ports: http } },
  'late-node': { spec: { selector: { app: 'late-node' }, ports: http } },
  leaves: { spec: { selector: { app: 'leaves' }, ports: http } },
};

export interface SamplePod extends PodSpec, PodStatus {}

/** A ready single-stack Pod on a Node in zone a. */
export function pod(name: string, app: string, ip: string, more: Partial<SamplePod> = {}): SamplePod {
  return {
    namespace,
    name,
    labels: { app },
    nodeName: 'a-1',
    phase: 'Running',
    ips: [ip],
    ready: true,
    since,
    ...more,
  };
}

const pods: readonly SamplePod[] = [
  pod('web-1', 'web', '10.1.0.1'),
  pod('web-2', 'web', '10.1.0.2', { nodeName: 'b-1' }),
  pod('web-3', 'web', '10.1.0.3', { nodeName: 'c-1', ready: false }),
  pod('web-finished', 'web', '10.1.0.4', { phase: 'Succeeded', ready: false }),
  pod('web-without-address', 'web', '', { ips: [], phase: 'Pending', ready: false }),
  pod('headless-1', 'headless', '10.1.1.1', { hostname: 'first', subdomain: 'headless' }),
  pod('headless-2', 'headless', '10.1.1.2', { hostname: 'second', subdomain: 'another' }),
  pod('headless-no-ports-1', 'headless-no-ports', '10.1.2.1'),
  pod('dual-1', 'dual', '', { ips: ['10.1.3.1', 'fd00::3:1'] }),
  pod('dual-2', 'dual', '10.1.3.2', { nodeName: 'b-1' }),
  pod('dual-headless-1', 'dual-headless', '', { ips: ['fd00::4:1', '10.1.4.1'] }),
  pod('six-1', 'six', 'fd00::5:1'),
  pod('ports-1', 'ports', '10.1.6.1', { ports: { http: 8080 }, sidecarPorts: { metrics: 9091 } }),
  pod('ports-2', 'ports', '10.1.6.2', { ports: { http: 8081, metrics: 9092 } }),
  pod('ports-3', 'ports', '10.1.6.3'),
  pod('not-ready-too-1', 'not-ready-too', '10.1.7.1', { ready: false }),
  pod('not-ready-too-2', 'not-ready-too', '10.1.7.2', { nodeName: 'missing' }),
  ...['a-1', 'a-1', 'b-1', 'b-1', 'c-1', 'c-1'].map((nodeName, i) =>
    pod(`auto-${i}`, 'auto', `10.1.8.${i + 1}`, { nodeName }),
  ),
  pod('late-node-1', 'late-node', '10.1.9.1', { nodeName: 'late' }),
  pod('late-node-2', 'late-node', '10.1.9.2'),
  pod('leaves-1', 'leaves', '10.1.10.1'),
];

const subset = (addresses: readonly string[], notReady: readonly string[], port: number): JsonObject => ({
  addresses: addresses.map((ip) => ({ ip })),
  notReadyAddresses: notReady.map((ip) => ({ ip })),
  ports: [{ name: 'http', port }],
});

export const customEndpoints: readonly Parameters<typeof objects.endpointsObject>[0][] = [
  {
    namespace,
    name: 'custom',
    labels: { kept: 'by-a-user' },
    annotations: { note: 'mirrored' },
    subsets: [subset(['192.0.2.1', '192.0.2.2'], ['192.0.2.3'], 8080), subset(['192.0.2.9'], [], 9090)],
  },
  { namespace, name: 'custom-two-families', subsets: [subset(['192.0.2.1', '2001:db8::1'], [], 8080)] },
  {
    namespace,
    name: 'custom-not-mirrored',
    labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' },
    subsets: [subset(['192.0.2.1'], [], 8080)],
  },
  { namespace, name: 'of-no-service', subsets: [subset(['192.0.2.1'], [], 8080)] },
];

/**
 * Creates the same Nodes in three zones, Services of each kind, Pods in each state and custom Endpoints in both
 * clusters.
 */
export async function applySampleObjects(pair: Pair): Promise<void> {
  await pair.apply((client) => client.create('namespaces', objects.namespaceObject(namespace)));
  for (const zone of ['a', 'b', 'c']) await applyNode(pair, `${zone}-1`, zone);
  for (const [name, service] of Object.entries(services)) {
    const object = objects.serviceObject({ namespace, name, ...service });
    await pair.apply((client) => client.create('services', object));
  }
  for (const endpoints of customEndpoints) {
    const object = objects.endpointsObject(endpoints);
    await pair.apply((client) => client.create('endpoints', object));
  }
  for (const each of pods) await applyPod(pair, each);
}

export async function applyNode(pair: Pair, name: string, zone: string): Promise<void> {
  await pair.apply((client) => client.create('nodes', objects.nodeObject({ name, zone })));
  await pair.apply((client) => client.patch({ resource: 'nodes', name }, objects.nodeStatus(true, '4'), 'status'));
}

/** Creates a Pod and reports its status, as scheduler and kubelet do. */
export async function applyPod(pair: Pair, each: SamplePod): Promise<void> {
  await pair.apply((client) => client.create('pods', podObject(each)));
  await pair.apply((client) => client.patch(reference('pods', each), podStatus(each), 'status'));
}
