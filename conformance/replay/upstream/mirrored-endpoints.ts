import { type EndpointSlice, equalBeyondIdentity, type MirroredGroup, soundDecisions } from '@sluice/controllers';

/** H15 as upstream counts: an endpoint that is there twice makes up for one that is missing. */
export function holdsAsMany(slice: EndpointSlice, group: MirroredGroup, max: number): boolean {
  const held = slice.endpoints ?? [];
  if (soundDecisions.holds(slice, group, max)) return true;
  return (
    held.length === group.endpoints.size &&
    held.every((endpoint) => {
      const desired = group.endpoints.get(endpoint);
      return desired !== undefined && equalBeyondIdentity(desired, endpoint);
    })
  );
}
