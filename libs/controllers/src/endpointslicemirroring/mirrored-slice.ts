import { equalStringMaps, withoutKeys } from '../comparison/string-maps.ts';
import { equalBeyondIdentity } from '../endpointslice/endpoint-identity.ts';
import { endpointSlicePrefix, ownerReference } from '../endpointslice/new-slice.ts';
import type { Endpoints } from '../objects/endpoints.ts';
import type { Endpoint, EndpointSlice } from '../objects/endpointslice.ts';
import type { StringMap } from '../objects/metadata.ts';
import {
  endpointSliceMirroringController,
  lastAppliedAnnotation,
  managedByLabel,
  serviceNameLabel,
  triggerTimeAnnotation,
} from '../objects/well-known.ts';
import type { MirroredGroup } from './mirrored-addresses.ts';

/** The slice that mirrors a group, without a name (H16). Endpoints beyond the maximum are left out. */
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
 * Whether an existing slice already mirrors the group (H15). The slices of an Endpoints that itself carries a reserved
 * label never do (H22); a rewrite that would change nothing is left out later.
 */
export function mirrors(
  slice: EndpointSlice,
  endpoints: Endpoints,
  group: MirroredGroup,
  max: number,
  holds: typeof holdsExactly,
): boolean {
  return (
    holds(slice, group, max) &&
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

/** Nothing to add, remove or update. When more is desired than fits, any choice of the right size is right. */
export function holdsExactly(slice: EndpointSlice, { endpoints }: MirroredGroup, max: number): boolean {
  const held = slice.endpoints ?? [];
  if (held.length !== Math.min(endpoints.size, max)) return false;
  const seen = new Set<Endpoint>();
  return held.every((endpoint) => {
    const desired = endpoints.get(endpoint);
    if (desired === undefined || seen.has(desired)) return false;
    seen.add(desired);
    return equalBeyondIdentity(desired, endpoint);
  });
}

/** An earlier Endpoints object of the same name owns the slice; it would be garbage-collected (H15). */
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
