import type { ClusterView } from './cluster-view.ts';
import {
  annotationLine,
  hasPlainHints,
  isHeadless,
  labelLine,
  ownerLine,
  selects,
  sliceLine,
  targetLine,
} from './expected-service.ts';
import {
  type EndpointsObject,
  endpointsManagedByLabel,
  headlessLabel,
  managedByLabel,
  mirrorManager,
  type OwnerRef,
  type ServiceObject,
  type SliceObject,
  serviceNameLabel,
  sliceManager,
} from './objects.ts';

export const endpointsWithoutService = 'endpoints without a Service';

/** What is written for the Service of a name, in the same form as the expected lines. A repeated endpoint is repeated. */
export function actualLines(
  view: ClusterView,
  namespace: string,
  name: string,
  maxPerSlice: number,
): readonly string[] {
  const service = view.get('services', namespace, name) as ServiceObject | undefined;
  const slices = slicesOf(view, namespace, name);
  const lines: string[] = [];
  // Otherwise slices are left alone (E9), or the garbage collector deletes them (E8).
  if (service !== undefined && selects(service)) {
    const own = slices.filter(({ metadata }) => metadata.labels?.[managedByLabel] === sliceManager);
    const properties = new Set<string>();
    for (const slice of own) {
      for (const property of sliceProperties('slice', withHeadlessLabel(view, slice, service), maxPerSlice))
        properties.add(property);
      for (const endpoint of slice.endpoints ?? []) {
        lines.push(sliceLine(slice.addressType, portsOf(slice), endpoint, hasPlainHints(service)));
      }
    }
    lines.push(...properties);
  }
  if (service !== undefined && selects(service)) lines.push(...endpointsLines(view, namespace, name));
  // Those that users create may be there before their Service (D4).
  if (
    service === undefined &&
    view.get('endpoints', namespace, name)?.metadata.labels?.[endpointsManagedByLabel] !== undefined
  )
    lines.push(endpointsWithoutService);
  const properties = new Set<string>();
  for (const slice of slices.filter(({ metadata }) => metadata.labels?.[managedByLabel] === mirrorManager)) {
    for (const property of sliceProperties('mirrored', slice, Number.POSITIVE_INFINITY)) properties.add(property);
    if ((slice.endpoints ?? []).length === 0) lines.push(`mirrored ${slice.addressType} without endpoints`);
    properties.add(annotationLine(`mirrored ${slice.addressType}`, slice.metadata.annotations));
    for (const { addresses, conditions, nodeName = '', hostname = '', targetRef } of slice.endpoints ?? [])
      lines.push(
        `mirrored ${slice.addressType} [${portsOf(slice)}] ${addresses} ready=${conditions?.ready} node=${nodeName} hostname=${hostname} ${targetLine(targetRef)}`,
      );
  }
  return [...lines, ...properties].sort();
}

/** Slices that name the Service, of any manager. Slices whose deletion a finalizer holds back do not count. */
export function slicesOf(view: ClusterView, namespace: string, name: string): readonly SliceObject[] {
  return (view.all('endpointslices') as readonly SliceObject[]).filter(
    ({ metadata }) =>
      metadata.namespace === namespace &&
      metadata.labels?.[serviceNameLabel] === name &&
      metadata.deletionTimestamp === undefined,
  );
}

/**
 * The headless label is not compared where a change of it alone is not seen: for a slice without endpoints a missing label equals an
 * empty one (E24), and a Service that gets or loses its cluster IP leaves slices whose other content stays (E26).
 */
function withHeadlessLabel(view: ClusterView, slice: SliceObject, service: ServiceObject): SliceObject {
  if ((slice.endpoints ?? []).length > 0 && !view.hasChangedClusterIp(service.metadata.uid)) return slice;
  const { [headlessLabel]: _, ...others } = slice.metadata.labels ?? {};
  const labels = { ...others, ...(isHeadless(service) && { [headlessLabel]: '' }) };
  return { ...slice, metadata: { ...slice.metadata, labels } };
}

function* sliceProperties(what: string, slice: SliceObject, maxPerSlice: number): Iterable<string> {
  const { metadata, addressType } = slice;
  // Null, as Go encodes an empty list.
  const endpoints = slice.endpoints ?? [];
  yield labelLine(`${what} ${addressType}`, metadata.labels ?? {});
  // A slice without endpoints may stay whoever owns it (E24).
  if (endpoints.length === 0) return;
  const owners = (metadata.ownerReferences ?? []) as readonly OwnerRef[];
  yield `${what} ${addressType} owner ${owners.map(ownerLine).join()}`;
  if (endpoints.length > maxPerSlice) yield `${what} ${addressType} with ${endpoints.length} endpoints`;
}

function portsOf({ ports }: SliceObject): string {
  return (ports ?? [])
    .map(({ name, protocol, port, appProtocol }) => `${name ?? ''}:${protocol}:${port}:${appProtocol ?? ''}`)
    .sort()
    .join();
}

function endpointsLines(view: ClusterView, namespace: string, name: string): readonly string[] {
  const endpoints = view.get('endpoints', namespace, name) as EndpointsObject | undefined;
  if (endpoints === undefined) return [];
  // The label alone is no reason to write (D20).
  const { [headlessLabel]: _, ...labels } = endpoints.metadata.labels ?? {};
  const lines = [labelLine('endpoints', labels)];
  for (const { addresses, notReadyAddresses, ports } of endpoints.subsets ?? []) {
    for (const [ready, list] of [
      [true, addresses ?? []],
      [false, notReadyAddresses ?? []],
    ] as const) {
      for (const { ip, targetRef, nodeName = '', hostname = '' } of list) {
        for (const port of ports ?? []) {
          const named = `${port.name ?? ''}:${port.protocol}:${port.port}:${port.appProtocol ?? ''}`;
          lines.push(
            `endpoints ${named} ${ip} ${targetLine(targetRef)} ready=${ready} node=${nodeName} hostname=${hostname}`,
          );
        }
      }
    }
  }
  return lines;
}
