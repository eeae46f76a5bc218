import {
  type EndpointAddress,
  type EndpointSubset,
  type EndpointsPort,
  isIpv6,
  normaliseIp,
  type ObjectReference,
  type Pod,
  type PodOnNode,
  type Service,
  type ServicePort,
} from '@sluice/model';
import { changedIndexes, endpointHostname, findPort, samePorts, shouldPodBeInEndpoints } from '../pods.ts';
import { compareAddresses, noPort, portIdentity, SubsetPacker } from './repack-subsets.ts';

interface DesiredSubsets {
  readonly subsets: readonly EndpointSubset[];
  /** Addresses keyed by Pod name. An address is in no subset if its Pod has none of the ports. */
  readonly byPod: ReadonlyMap<string, EndpointAddress>;
}

/** Returns the subsets that the Endpoints of a Service should have, before truncation (D9–D15). */
export function desiredSubsets(service: Service, pods: Iterable<PodOnNode>): DesiredSubsets {
  const packer = new SubsetPacker();
  const byPod = new Map<string, EndpointAddress>();
  const headlessWithoutPorts = service.ports.length === 0 && service.clusterIP === 'None';
  const ports = service.ports.map(portsByNumber);
  for (const { pod } of pods) {
    const address = desiredAddress(service, pod);
    if (address === null) continue;
    const ready = isOfferedAsReady(service, pod);
    if (headlessWithoutPorts) packer.add(address, null, noPort, ready);
    for (const portFor of ports) {
      const found = portFor(pod);
      if (found !== null) packer.add(address, found.port, found.identity, ready);
    }
    byPod.set(pod.name, address);
  }
  return { subsets: packer.pack(), byPod };
}

/** Returns the address of a Pod, or null if the Endpoints should not contain it. */
function desiredAddress(service: Service, pod: Pod): EndpointAddress | null {
  return shouldPodBeInEndpoints(pod, service.publishNotReadyAddresses) ? podToEndpointAddress(pod, service) : null;
}

function isOfferedAsReady(service: Service, pod: Pod): boolean {
  return service.publishNotReadyAddresses || pod.ready;
}

interface ResolvedPort {
  readonly port: EndpointsPort;
  readonly identity: string;
}

/**
 * Returns a function that resolves one Service port for a Pod. Pods with the same port number share the object (D13).
 */
function portsByNumber(servicePort: ServicePort, index: number): (pod: Pod) => ResolvedPort | null {
  const known = new Map<number, ResolvedPort>();
  return (pod) => {
    const number = findPort(pod, servicePort);
    if (number === null) return null;
    const before = known.get(number);
    if (before !== undefined) return before;
    const { name, protocol, appProtocol } = servicePort;
    const port: EndpointsPort = {
      ...(name !== '' && { name }),
      port: number,
      ...(protocol !== '' && { protocol }),
      ...(appProtocol !== null && { appProtocol }),
    };
    const resolved = { port, identity: portIdentity(port, String(index)) };
    known.set(number, resolved);
    return resolved;
  };
}

/** Returns the address of a Pod in the Endpoints of a Service, in the Service's first IP family, or null (D10, D11). */
export function podToEndpointAddress(pod: Pod, service: Service): EndpointAddress | null {
  const wanted = wantsIpv6(pod, service) ? 'IPv6' : 'IPv4';
  for (const text of pod.ips) {
    const ip = normaliseIp(text);
    if (ip.family === wanted) return addressOf(ip.text, pod, service);
  }
  return null;
}

function wantsIpv6(pod: Pod, service: Service): boolean {
  const family = service.ipFamilies[0];
  if (family !== undefined) return family === 'IPv6';
  const headless = service.clusterIP === '' || service.clusterIP === 'None';
  return isIpv6(headless ? pod.ip : service.clusterIP);
}

function addressOf(ip: string, pod: Pod, service: Service): EndpointAddress {
  const hostname = endpointHostname(pod, service);
  const targetRef = { kind: 'Pod', namespace: pod.namespace, name: pod.name, uid: pod.uid };
  return hostname === ''
    ? { ip, nodeName: pod.nodeName, targetRef }
    : { ip, hostname, nodeName: pod.nodeName, targetRef };
}

interface CachedSubsets extends DesiredSubsets {
  readonly pods: readonly PodOnNode[];
}

/**
 * Cache of the last decision per Service object (ADR 0044). A Service object is replaced whenever it changes. The cache
 * only saves work: a decision with it equals a decision without it.
 */
const subsetCache = new WeakMap<Service, CachedSubsets>();
const canonical = new WeakSet<readonly EndpointSubset[]>();

/** Same as `desiredSubsets`, but incremental if only the readiness of some Pods has changed since the last call. */
export function cachedDesiredSubsets(service: Service, pods: readonly PodOnNode[]): readonly EndpointSubset[] {
  const before = subsetCache.get(service);
  const subsets = before && withReadiness(service, before, pods);
  const desired = subsets && before ? { subsets, byPod: before.byPod } : desiredSubsets(service, pods);
  subsetCache.set(service, { ...desired, pods });
  // With several subsets, `repackSubsets` would merge those without ports.
  if (desired.subsets.length < 2) canonical.add(desired.subsets);
  return desired.subsets;
}

/** Whether these subsets are known to be in the canonical form of `repackSubsets`. */
export function isCanonical(subsets: readonly EndpointSubset[]): boolean {
  return canonical.has(subsets);
}

/**
 * Returns undefined if more than the readiness of some Pods has changed, or if moving their addresses is not enough.
 */
function withReadiness(
  service: Service,
  { pods: before, subsets, byPod }: CachedSubsets,
  pods: readonly PodOnNode[],
): readonly EndpointSubset[] | undefined {
  const indexes = changedIndexes(before, pods);
  const [subset, ...others] = subsets;
  if (indexes === undefined || subset === undefined || others.length > 0) return undefined;
  let ready = subset.addresses ?? [];
  let notReady = subset.notReadyAddresses ?? [];
  // Some Pods share an address or have none of the ports.
  if (ready.length + notReady.length !== byPod.size) return undefined;
  for (const index of indexes) {
    const [was, is] = [before[index]?.pod, pods[index]?.pod];
    const known = is && byPod.get(is.name);
    const address = is && desiredAddress(service, is);
    if (!was || !known || !address) return undefined;
    if (!equalAddresses(known, address) || !samePorts(service, was, is)) return undefined;
    const isReady = isOfferedAsReady(service, is);
    if (isOfferedAsReady(service, was) === isReady) continue;
    const [from, to] = isReady ? [notReady, ready] : [ready, notReady];
    const at = from.indexOf(known);
    if (at < 0) return undefined;
    const [rest, more] = [from.toSpliced(at, 1), withAddress(to, known)];
    [ready, notReady] = isReady ? [more, rest] : [rest, more];
  }
  const { ports } = subset;
  return [
    {
      ...(ready.length > 0 && { addresses: ready }),
      ...(notReady.length > 0 && { notReadyAddresses: notReady }),
      ...(ports && { ports }),
    },
  ];
}

function withAddress(sorted: readonly EndpointAddress[], address: EndpointAddress): readonly EndpointAddress[] {
  const after = sorted.findIndex((one) => compareAddresses(address, one) < 0);
  return sorted.toSpliced(after < 0 ? sorted.length : after, 0, address);
}

/** Whether two lists of subsets are equal, including their order, ignoring the resourceVersion of targets (D19). */
export function equalSubsets(a: readonly EndpointSubset[], b: readonly EndpointSubset[]): boolean {
  return equalLists(a, b, equalSubset);
}

function equalSubset(a: EndpointSubset, b: EndpointSubset): boolean {
  return (
    equalLists(a.ports, b.ports, equalPorts) &&
    equalLists(a.addresses, b.addresses, equalAddresses) &&
    equalLists(a.notReadyAddresses, b.notReadyAddresses, equalAddresses)
  );
}

function equalLists<T>(
  a: readonly T[] | null | undefined,
  b: readonly T[] | null | undefined,
  equal: (a: T, b: T) => boolean,
): boolean {
  const left = a ?? [];
  const right = b ?? [];
  return (
    left.length === right.length &&
    left.every((item, i) => {
      const other = right[i];
      return other !== undefined && equal(item, other);
    })
  );
}

function equalPorts(a: EndpointsPort, b: EndpointsPort): boolean {
  return (
    a.port === b.port &&
    (a.name ?? '') === (b.name ?? '') &&
    (a.protocol ?? '') === (b.protocol ?? '') &&
    (a.appProtocol ?? null) === (b.appProtocol ?? null)
  );
}

/** Ignores the resourceVersion of targets (D19). */
function equalAddresses(a: EndpointAddress, b: EndpointAddress): boolean {
  return (
    a === b ||
    (a.ip === b.ip &&
      (a.hostname ?? '') === (b.hostname ?? '') &&
      (a.nodeName ?? null) === (b.nodeName ?? null) &&
      equalTargets(a.targetRef ?? null, b.targetRef ?? null))
  );
}

function equalTargets(a: ObjectReference | null, b: ObjectReference | null): boolean {
  if (a === null || b === null) return a === b;
  return (
    (a.uid ?? '') === (b.uid ?? '') &&
    (a.name ?? '') === (b.name ?? '') &&
    (a.namespace ?? '') === (b.namespace ?? '') &&
    (a.kind ?? '') === (b.kind ?? '') &&
    (a.apiVersion ?? '') === (b.apiVersion ?? '') &&
    (a.fieldPath ?? '') === (b.fieldPath ?? '')
  );
}
