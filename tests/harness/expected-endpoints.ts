import type { FakeApiServer, StoredObject } from '@sluice/fake-apiserver';

/**
 * The endpoints that Services should have, computed from the Pods by simple code that shares nothing with the
 * controllers, and those they do have. One line per endpoint.
 */
export interface EndpointLines {
  readonly expected: readonly string[];
  readonly actual: readonly string[];
}

interface ServicePort {
  readonly name?: string;
  readonly targetPort: number | string;
}

interface ServiceSpec {
  readonly type: string;
  readonly selector?: Readonly<Record<string, string>>;
  readonly ipFamilies?: readonly string[];
  readonly ports: readonly ServicePort[];
  readonly publishNotReadyAddresses?: boolean;
}

interface PodParts {
  readonly spec: {
    readonly nodeName: string;
    readonly containers: readonly {
      readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
    }[];
  };
  readonly status: {
    readonly phase: string;
    readonly podIPs?: readonly { readonly ip: string }[];
    readonly conditions: readonly { readonly status: string }[];
  };
}

interface SliceParts {
  readonly addressType: string;
  readonly ports?: readonly { readonly name?: string; readonly port?: number }[];
  readonly endpoints?: readonly {
    readonly addresses: readonly string[];
    readonly conditions: { readonly ready?: boolean };
    readonly targetRef?: { readonly name?: string; readonly uid?: string };
  }[];
}

type Address = { readonly ip: string; readonly targetRef?: { readonly uid?: string } };

interface Candidate {
  readonly pod: StoredObject & PodParts;
  readonly ready: boolean;
  readonly terminating: boolean;
  /** The ports of the Service that the Pod has, sorted. */
  readonly ports: string;
}

/** EndpointSlices of each Service and address type (E12–E18). */
export function slicesOf(server: FakeApiServer): EndpointLines {
  const nodes = new Set(server.list('nodes').items.map(({ metadata }) => metadata.name));
  const expected = selecting(server).flatMap(({ name, spec }) =>
    (spec.ipFamilies ?? []).flatMap((family) =>
      candidates(server, spec)
        .filter(({ pod }) => spec.publishNotReadyAddresses || nodes.has(pod.spec.nodeName))
        .flatMap(({ pod, ready, terminating, ports }) => {
          const ips = ipsOf(pod, family);
          const serves = spec.publishNotReadyAddresses || (ready && !terminating);
          return ips.length === 0 ? [] : [`${name} ${family} [${ports}] ${pod.metadata.uid} ${ips} ${serves}`];
        }),
    ),
  );
  const names = new Set(selecting(server).map(({ name }) => name));
  const actual = server.list('endpointslices').items.flatMap((item) => {
    const { labels = {} } = item.metadata;
    const service = labels['kubernetes.io/service-name'] ?? '';
    const managed = labels['endpointslice.kubernetes.io/managed-by'] === 'endpointslice-controller.k8s.io';
    if (!managed || !names.has(service)) return [];
    const slice = item as unknown as SliceParts;
    const ports = (slice.ports ?? []).map(({ name, port }) => `${name}:${port}`).sort();
    return (slice.endpoints ?? []).map(
      ({ addresses, conditions, targetRef }) =>
        `${service} ${slice.addressType} [${ports}] ${targetRef?.uid} ${addresses} ${conditions.ready}`,
    );
  });
  return { expected: expected.sort(), actual: actual.sort() };
}

/** Endpoints of each Service, in its first address family (D9–D14). */
export function endpointsOf(server: FakeApiServer): EndpointLines {
  const services = selecting(server);
  const expected = services.flatMap(({ name, spec }) =>
    candidates(server, spec).flatMap(({ pod, ready, terminating, ports }) => {
      const [ip] = ipsOf(pod, spec.ipFamilies?.[0] ?? 'IPv4');
      if (ip === undefined || ports === '' || (terminating && !spec.publishNotReadyAddresses)) return [];
      return [`${name} ${pod.metadata.uid} ${ip} ${spec.publishNotReadyAddresses || ready}`];
    }),
  );
  const actual = services.flatMap(({ name }) => {
    const object = server.list('endpoints').items.find(({ metadata }) => metadata.name === name);
    const subsets = (object?.subsets ?? []) as { addresses?: Address[]; notReadyAddresses?: Address[] }[];
    const line = (ready: boolean) => (address: Address) => `${name} ${address.targetRef?.uid} ${address.ip} ${ready}`;
    return subsets.flatMap(({ addresses = [], notReadyAddresses = [] }) => [
      ...addresses.map(line(true)),
      ...notReadyAddresses.map(line(false)),
    ]);
  });
  // An address is listed once per group of ports.
  return { expected: [...new Set(expected)].sort(), actual: [...new Set(actual)].sort() };
}

/** Services whose endpoints are computed from Pods (D6, E9). */
function selecting(server: FakeApiServer): { readonly name: string; readonly spec: ServiceSpec }[] {
  return server
    .list('services')
    .items.map(({ metadata, spec }) => ({ name: metadata.name, spec: spec as ServiceSpec }))
    .filter(({ spec }) => spec.selector !== undefined && spec.type !== 'ExternalName');
}

function candidates(server: FakeApiServer, { selector, ports }: ServiceSpec): Candidate[] {
  return (server.list('pods').items as (StoredObject & PodParts)[])
    .filter((pod) => Object.entries(selector ?? {}).every(([key, value]) => pod.metadata.labels?.[key] === value))
    .filter(({ status }) => status.phase === 'Running' && status.podIPs !== undefined)
    .map((pod) => ({
      pod,
      ready: pod.status.conditions[0]?.status === 'True',
      terminating: pod.metadata.deletionTimestamp !== undefined,
      ports: ports
        .flatMap(({ name, targetPort }) => {
          const port = typeof targetPort === 'number' ? targetPort : numberOf(pod, targetPort);
          return port === undefined ? [] : [`${name}:${port}`];
        })
        .sort()
        .join(),
    }));
}

function numberOf({ spec }: PodParts, name: string): number | undefined {
  return spec.containers.flatMap(({ ports }) => ports).find((port) => port.name === name)?.containerPort;
}

function ipsOf({ status }: PodParts, family: string): string[] {
  return (status.podIPs ?? []).map(({ ip }) => ip).filter((ip) => ip.includes(':') === (family === 'IPv6'));
}

/** Endpoints that slices and Endpoints lack, and those that they should not have. */
export function endpointDifferences(server: FakeApiServer): readonly string[] {
  return [slicesOf(server), endpointsOf(server)].flatMap(({ expected, actual }) => {
    const found = new Set(actual);
    return [...expected.filter((line) => !found.has(line)), ...actual.filter((line) => !expected.includes(line))];
  });
}
