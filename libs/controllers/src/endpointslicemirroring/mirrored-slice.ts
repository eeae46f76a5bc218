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
import { endpointSlicePrefix, ownerReference } from '../endpointslice/slice.ts';
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

/** An existing slice and the body that replaces it. */
export interface Replacement {
  readonly existing: EndpointSlice;
  readonly body: EndpointSlice;
}

export interface Recycled {
  readonly creates: readonly EndpointSlice[];
  readonly updates: readonly Replacement[];
  readonly deletes: readonly EndpointSlice[];
}

/**
 * Pairs creates with deletes of the same address type (H19). Unlike upstream, each create is paired once by identity,
 * so a plan with both families converges in one pass.
 */
export function recycleSlices(toCreate: readonly EndpointSlice[], toDelete: readonly EndpointSlice[]): Recycled {
  const creates: EndpointSlice[] = [];
  const updates: Replacement[] = [];
  const deletes = [...toDelete];
  for (const body of toCreate) {
    const at = deletes.findIndex(({ addressType }) => addressType === body.addressType);
    const [existing] = at < 0 ? [] : deletes.splice(at, 1);
    if (existing === undefined) creates.push(body);
    else updates.push({ existing, body });
  }
  return { creates, updates, deletes };
}
