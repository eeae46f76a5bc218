import { changesNothing } from './comparison/changes-nothing.ts';
import type { MirroredGroup } from './endpointslicemirroring/mirrored-addresses.ts';
import { holdsExactly } from './endpointslicemirroring/mirrored-slice.ts';
import { type Recycled, recycleSlices } from './endpointslicemirroring/recycling.ts';
import type { Endpoints } from './objects/endpoints.ts';
import type { EndpointSlice } from './objects/endpointslice.ts';

/**
 * Decisions that Sluice takes in its own way (docs/reference/deviations.md), as a port: a run that is compared with a recording of
 * upstream hands in upstream's way.
 */
export interface DecisionPolicy {
  /** Whether an update need not be sent (K5). */
  readonly spares: <T extends Endpoints | EndpointSlice>(existing: T, updated: T) => boolean;
  /** Whether a mirrored slice holds what it should, up to `max` endpoints (H15). */
  readonly holds: (slice: EndpointSlice, group: MirroredGroup, max: number) => boolean;
  /** Puts bodies to be created in the place of mirrored slices to be deleted (H19). */
  readonly recycle: (toCreate: readonly EndpointSlice[], toDelete: readonly EndpointSlice[]) => Recycled;
}

/** What is right at rest is written at once, and nothing else. */
export const soundDecisions: DecisionPolicy = {
  spares: changesNothing,
  holds: holdsExactly,
  recycle: recycleSlices,
};
