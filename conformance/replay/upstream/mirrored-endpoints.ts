import { defaultPolicy, endpointsEqualBeyondHash, type MirroredGroup } from '@sluice/controllers';
import type { EndpointSlice } from '@sluice/model';

/** Counts endpoints as upstream does: a duplicate makes up for a missing one (H15). */
export function holdsAsMany(slice: EndpointSlice, group: MirroredGroup, max: number): boolean {
  const held = slice.endpoints ?? [];
  if (defaultPolicy.hasContent(slice, group, max)) return true;
  return (
    held.length === group.endpoints.size &&
    held.every((endpoint) => {
      const desired = group.endpoints.get(endpoint);
      return desired !== undefined && endpointsEqualBeyondHash(desired, endpoint);
    })
  );
}
