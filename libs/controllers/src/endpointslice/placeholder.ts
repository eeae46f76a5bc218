import { type AddressType, type EndpointSlice, type Service, type StringMap, structurallyEqual } from '@sluice/model';
import { newEndpointSlice } from './new-slice.ts';
import type { SliceChanges } from './reconcile-by-port-mapping.ts';

/** Ensures that an address type keeps at least one slice, if necessary an empty placeholder (E24). */
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
 * Whether an existing slice can serve as the placeholder. As upstream, this ignores its name, annotations and owner; a
 * field unknown to Sluice rules it out.
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

/** A missing label equals an empty one here, so a change of the headless label alone is not seen (E24). */
function equalLabels(a: StringMap, b: StringMap): boolean {
  return Object.keys({ ...a, ...b }).every((key) => (a[key] ?? '') === (b[key] ?? ''));
}
