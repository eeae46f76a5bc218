import type { StoredObject } from '@sluice/fake-apiserver';
import type { ClusterView } from './cluster-view.ts';
import {
  type EndpointsObject,
  endpointsManagedByLabel,
  endpointsManager,
  headlessLabel,
  managedByLabel,
  mirrorManager,
  type OwnerRef,
  type PodObject,
  type ServiceObject,
  type SliceEndpoint,
  serviceNameLabel,
  sliceManager,
  type TargetRef,
} from './objects.ts';

/**
 * What should be written for the Service of a name, as sorted lines, one per endpoint and object property. Computed by
 * simple code that shares nothing with the pipeline; the sections named are those of the behaviour of Kubernetes.
 */
export function expectedLines(view: ClusterView, namespace: string, name: string): readonly string[] {
  const service = view.get('services', namespace, name) as ServiceObject | undefined;
  const endpoints = view.get('endpoints', namespace, name) as EndpointsObject | undefined;
  const lines = new Set<string>();
  if (service !== undefined && selects(service)) {
    for (const line of sliceLines(view, service)) lines.add(line);
    for (const line of endpointsLines(view, service)) lines.add(line);
  }
  if (service !== undefined && endpoints !== undefined && isMirrored(service, endpoints))
    for (const line of mirroredLines(endpoints)) lines.add(line);
  return [...lines].sort();
}

/** Whether the endpoints of the Service are computed from Pods (D6, E9). */
export function selects({ spec }: ServiceObject): boolean {
  return spec.selector !== undefined && spec.type !== 'ExternalName';
}

export function sliceLine(family: string, ports: string, endpoint: SliceEndpoint, isHinted: boolean): string {
  const { addresses, conditions = {}, targetRef, nodeName = '', zone = '', hostname = '', hints } = endpoint;
  const { ready, serving, terminating } = conditions;
  // Hints of endpoints that are not ready are left as they are (F6, G2).
  const zones = isHinted && ready ? (hints?.forZones ?? []).map((hint) => hint.name).join() : '*';
  const nodes = isHinted && ready ? (hints?.forNodes ?? []).map((hint) => hint.name).join() : '*';
  return `slice ${family} [${ports}] ${targetLine(targetRef)} ${addresses} ready=${ready} serving=${serving} terminating=${terminating} node=${nodeName} zone=${zone} hostname=${hostname} hints=${zones}/${nodes}`;
}

/** A reference to an object, in full. */
export const targetLine = ({ kind, namespace, name, uid }: TargetRef = {}): string =>
  [kind, namespace, name, uid].join('/');

export const ownerLine = ({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerRef): string =>
  [apiVersion, kind, name, uid, controller, blockOwnerDeletion].join('/');

const ownerOf = (kind: string, { name, uid = '' }: StoredObject['metadata']): string =>
  ownerLine({ apiVersion: 'v1', kind, name, uid, controller: true, blockOwnerDeletion: true });

const targetOf = ({ metadata: { namespace = '', name, uid = '' } }: PodObject): TargetRef => ({
  ...{ kind: 'Pod', namespace, name, uid },
});

export const labelLine = (what: string, labels: Readonly<Record<string, string>>): string =>
  `${what} labels ${Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join()}`;

/** Annotations of the mirrored Endpoints, without the one that tells when their Pods changed (H16). */
export function annotationLine(what: string, annotations: Readonly<Record<string, string>> = {}): string {
  const { 'endpoints.kubernetes.io/last-change-trigger-time': _, ...others } = annotations;
  return `${what} annotations ${JSON.stringify(Object.entries(others).sort())}`;
}

/** Whether the written hints follow from the Service and the endpoint alone: not with topology-mode (F). */
export function hasPlainHints({ metadata: { annotations = {} } }: ServiceObject): boolean {
  const mode =
    annotations['service.kubernetes.io/topology-aware-hints'] ?? annotations['service.kubernetes.io/topology-mode'];
  return mode !== 'Auto' && mode !== 'auto';
}

/** The slices of a Service with a selector, with their hints (E12–E26, G). */
function* sliceLines(view: ClusterView, service: ServiceObject): Iterable<string> {
  const { spec, metadata } = service;
  const publish = spec.publishNotReadyAddresses === true;
  for (const family of spec.ipFamilies ?? []) {
    // Each wanted family has a slice, if only a placeholder (E24).
    yield labelLine(`slice ${family}`, sliceLabels(service));
    for (const pod of podsOf(view, service)) {
      const node = view.get('nodes', '', pod.spec.nodeName ?? '');
      const addresses = ipsOf(pod, family);
      if (addresses.length === 0 || (node === undefined && !publish)) continue;
      const serving = isReady(pod);
      const terminating = pod.metadata.deletionTimestamp !== undefined;
      const ready = publish || (serving && !terminating);
      const zone = node?.metadata.labels?.['topology.kubernetes.io/zone'] ?? '';
      const { nodeName = '' } = pod.spec;
      const endpoint = {
        addresses,
        conditions: { ready, serving, terminating },
        targetRef: targetOf(pod),
        nodeName,
        zone,
        hostname: hostnameOf(pod, metadata.name),
        hints: hintsOf(spec.trafficDistribution, zone, nodeName),
      };
      yield `slice ${family} owner ${ownerOf('Service', metadata)}`;
      yield sliceLine(family, portsOf(service, pod).join(), endpoint, hasPlainHints(service));
    }
  }
}

function hintsOf(distribution: string | undefined, zone: string, node: string): NonNullable<SliceEndpoint['hints']> {
  if (!['PreferClose', 'PreferSameZone', 'PreferSameNode'].includes(distribution ?? '')) return {};
  return {
    forZones: zone === '' ? [] : [{ name: zone }],
    forNodes: distribution === 'PreferSameNode' && node !== '' ? [{ name: node }] : [],
  };
}

/** The Endpoints of a Service with a selector (D7–D22). An address is listed once per group of ports. */
function* endpointsLines(view: ClusterView, service: ServiceObject): Iterable<string> {
  const { spec, metadata } = service;
  const publish = spec.publishNotReadyAddresses === true;
  yield labelLine('endpoints', {
    ...metadata.labels,
    [endpointsManagedByLabel]: endpointsManager,
  });
  for (const pod of podsOf(view, service)) {
    const [ip] = ipsOf(pod, spec.ipFamilies?.[0] ?? 'IPv4');
    if (ip === undefined || (pod.metadata.deletionTimestamp !== undefined && !publish)) continue;
    for (const port of portsOf(service, pod)) {
      yield `endpoints ${port} ${ip} ${targetLine(targetOf(pod))} ready=${publish || isReady(pod)} node=${pod.spec.nodeName ?? ''} hostname=${hostnameOf(pod, metadata.name)}`;
    }
  }
}

/** The slices that mirror Endpoints (H9–H16). */
function* mirroredLines({ metadata, subsets = [] }: EndpointsObject): Iterable<string> {
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    const named = ports
      .map(({ name = '', protocol = 'TCP', port, appProtocol = '' }) => `${name}:${protocol}:${port}:${appProtocol}`)
      .sort();
    for (const [ready, list] of [
      [true, addresses],
      [false, notReadyAddresses],
    ] as const) {
      for (const { ip, hostname = '', nodeName = '', targetRef } of list) {
        const family = ip.includes(':') ? 'IPv6' : 'IPv4';
        yield `mirrored ${family} [${named}] ${ip} ready=${ready} node=${nodeName} hostname=${hostname} ${targetLine(targetRef)}`;
        yield `mirrored ${family} owner ${ownerOf('Endpoints', metadata)}`;
        yield annotationLine(`mirrored ${family}`, metadata.annotations);
        yield labelLine(`mirrored ${family}`, {
          ...metadata.labels,
          [serviceNameLabel]: metadata.name,
          [managedByLabel]: mirrorManager,
        });
      }
    }
  }
}

/** Whether slices mirror the Endpoints of users (H). */
export function isMirrored({ spec }: ServiceObject, { metadata }: StoredObject): boolean {
  const { labels = {}, annotations = {} } = metadata;
  return (
    spec.selector === undefined &&
    labels['endpointslice.kubernetes.io/skip-mirror'] !== 'true' &&
    annotations['control-plane.alpha.kubernetes.io/leader'] === undefined
  );
}

/** The labels that slices take over from their Service (E26). */
function sliceLabels(service: ServiceObject): Record<string, string> {
  const {
    [serviceNameLabel]: _name,
    [managedByLabel]: _manager,
    [headlessLabel]: _headless,
    ...labels
  } = service.metadata.labels ?? {};
  return {
    ...labels,
    [serviceNameLabel]: service.metadata.name,
    [managedByLabel]: sliceManager,
    ...(isHeadless(service) && { [headlessLabel]: '' }),
  };
}

export const isHeadless = ({ spec: { clusterIP = '' } }: ServiceObject): boolean =>
  clusterIP === '' || clusterIP === 'None';

/** Pods that the Service selects and that may be in endpoints, terminating or not (C2, C3, C9). */
function podsOf(view: ClusterView, { metadata, spec }: ServiceObject): readonly PodObject[] {
  const selector = Object.entries(spec.selector ?? {});
  return (view.all('pods') as readonly PodObject[]).filter(
    (pod) =>
      pod.metadata.namespace === metadata.namespace &&
      selector.every(([key, value]) => pod.metadata.labels?.[key] === value) &&
      !['Failed', 'Succeeded'].includes(pod.status?.phase ?? '') &&
      (pod.status?.podIPs?.length ?? 0) > 0,
  );
}

const isReady = ({ status }: PodObject): boolean =>
  status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';

const hostnameOf = ({ spec: { hostname = '', subdomain = '' } }: PodObject, service: string): string =>
  subdomain === service ? hostname : '';

/** The ports of a Pod that resolve (C5, E16). */
function portsOf({ spec }: ServiceObject, pod: PodObject): readonly string[] {
  return (spec.ports ?? [])
    .flatMap(({ name = '', protocol = 'TCP', targetPort, appProtocol = '' }) => {
      const number = typeof targetPort === 'number' ? targetPort : namedPort(pod, targetPort, protocol);
      return number === undefined ? [] : [`${name}:${protocol}:${number}:${appProtocol}`];
    })
    .sort();
}

function namedPort({ spec }: PodObject, wanted: string, wantedProtocol: string): number | undefined {
  return spec.containers
    .flatMap(({ ports = [] }) => ports)
    .find(({ name, protocol = 'TCP' }) => name === wanted && protocol === wantedProtocol)?.containerPort;
}

function ipsOf({ status }: PodObject, family: string): string[] {
  return (status?.podIPs ?? []).map(({ ip }) => ip).filter((ip) => ip.includes(':') === (family === 'IPv6'));
}
