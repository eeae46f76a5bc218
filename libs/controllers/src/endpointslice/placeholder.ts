import { structurallyEqual } from '../comparison/structural-equality.ts';
import type { AddressType, EndpointSlice } from '../objects/endpointslice.ts';
import type { StringMap } from '../objects/metadata.ts';
import type { Service } from '../objects/service.ts';
import { newEndpointSlice } from './new-slice.ts';
import type { SliceChanges } from './packing.ts';

/** Sees to it that an address type never ends up without any slice: an empty one holds its place (E24). */
export function withPlaceholder(
  changes: SliceChanges,
  service: Service,
  type: AddressType,
  existing: readonly EndpointSlice[],
): SliceChanges {
  const { toCreate, toDelete } = changes;
  if (existing.length !== toDelete.length || toCreate.length > 0) return changes;
  const placeholder = newEndpointSlice(service, type, [], []);
  const [only] = toDelete;
  if (toDelete.length === 1 && only !== undefined && isPlaceholder(only, placeholder))
    return { ...changes, toDelete: [] };
  return { ...changes, toCreate: [placeholder] };
}

/**
 * Whether an existing slice does for the placeholder. Its name, annotations and owner do not count, as upstream has it;
 * a field that Sluice does not know makes it something else.
 */
function isPlaceholder(slice: EndpointSlice, placeholder: EndpointSlice): boolean {
  const { metadata, addressType, endpoints, ports, ...unknown } = slice;
  return (
    addressType === placeholder.addressType &&
    (endpoints ?? []).length === 0 &&
    (ports ?? []).length === 0 &&
    structurallyEqual(unknown, {}) &&
    metadata.namespace === placeholder.metadata.namespace &&
    equalLabels(metadata.labels ?? {}, placeholder.metadata.labels ?? {})
  );
}

/** An absent label equals an empty one here, so a change to or from headless alone does not show (E24). */
function equalLabels(a: StringMap, b: StringMap): boolean {
  return Object.keys({ ...a, ...b }).every((key) => (a[key] ?? '') === (b[key] ?? ''));
}
