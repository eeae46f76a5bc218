import {
  type Endpoint,
  type EndpointSlice,
  type Endpoints,
  endpointSliceMirroringController,
  equalStringMaps,
  lastAppliedAnnotation,
  managedByLabel,
  type StringMap,
  serviceNameLabel,
  triggerTimeAnnotation,
  withoutKeys,
} from '@sluice/model';
import { endpointsEqualBeyondHash } from '../endpointslice/endpoint-identity.ts';
import { endpointSlicePrefix, ownerReference } from '../endpointslice/new-slice.ts';
import type { MirroredGroup } from './mirrored-addresses.ts';

/** Returns the slice that mirrors a group, without a name (H16). Endpoints beyond the maximum are dropped. */
export function mirroredSlice(endpoints: Endpoints, group: MirroredGroup, max: number): EndpointSlice {
  const { name, namespace, uid } = endpoints.metadata;
  return {
    metadata: {
      name: '',
      generateName: endpointSlicePrefix(name),
      namespace,
      labels: mirroredLabels(endpoints),
      annotations: mirroredAnnotations(endpoints),
      ownerReferences: [ownerReference('Endpoints', name, uid ?? '')],
    },
    addressType: group.addressType,
    endpoints: firstOf(group.endpoints, max),
    ports: group.ports,
  };
}

/**
 * Whether an existing slice already mirrors the group (H15). Never true if the Endpoints itself carries a reserved
 * label (H22); updates without effect are dropped later.
 */
export function mirrors(
  slice: EndpointSlice,
  endpoints: Endpoints,
  group: MirroredGroup,
  max: number,
  hasContent: typeof hasExactContent,
): boolean {
  return (
    hasContent(slice, group, max) &&
    equalStringMaps(withoutKeys(slice.metadata.labels, ownLabels), endpoints.metadata.labels) &&
    equalStringMaps(slice.metadata.annotations, mirroredAnnotations(endpoints)) &&
    !isOwnedByAnother(slice, endpoints)
  );
}

const ownLabels: readonly string[] = [serviceNameLabel, managedByLabel];

function mirroredLabels({ metadata }: Endpoints): StringMap {
  return {
    ...metadata.labels,
    [serviceNameLabel]: metadata.name,
    [managedByLabel]: endpointSliceMirroringController,
  };
}

function mirroredAnnotations({ metadata }: Endpoints): StringMap {
  return withoutKeys(metadata.annotations, [triggerTimeAnnotation, lastAppliedAnnotation]);
}

/**
 * Whether there is nothing to add, remove or update. If more endpoints are desired than fit, any selection of the right
 * size is accepted.
 */
export function hasExactContent(slice: EndpointSlice, { endpoints }: MirroredGroup, max: number): boolean {
  const held = slice.endpoints ?? [];
  if (held.length !== Math.min(endpoints.size, max)) return false;
  const seen = new Set<Endpoint>();
  return held.every((endpoint) => {
    const desired = endpoints.get(endpoint);
    if (desired === undefined || seen.has(desired)) return false;
    seen.add(desired);
    return endpointsEqualBeyondHash(desired, endpoint);
  });
}

/**
 * Whether an earlier Endpoints object with the same name owns the slice, which would then be garbage-collected (H15).
 */
function isOwnedByAnother(slice: EndpointSlice, { metadata }: Endpoints): boolean {
  const owners = slice.metadata.ownerReferences ?? [];
  return owners.some(
    ({ kind, name, uid }) => kind === 'Endpoints' && name === metadata.name && uid !== (metadata.uid ?? ''),
  );
}

function firstOf(endpoints: Iterable<Endpoint>, max: number): Endpoint[] {
  const first: Endpoint[] = [];
  for (const endpoint of endpoints) {
    if (first.length >= max) break;
    first.push(endpoint);
  }
  return first;
}
