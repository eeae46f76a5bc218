import { type EndpointSlice, type Endpoints, isNoOpUpdate } from '@sluice/model';
import type { MirroredGroup } from './endpointslicemirroring/mirrored-addresses.ts';
import { hasExactContent } from './endpointslicemirroring/mirrored-slice.ts';
import { type Recycled, recycleSlices } from './endpointslicemirroring/recycling.ts';

/**
 * Decisions in which Sluice deviates from upstream (docs/reference/parity.md), as a port: replays of upstream recordings
 * inject upstream's behaviour.
 */
export interface DecisionPolicy {
  /** Whether an update can be skipped (K5). */
  readonly isNoOp: <T extends Endpoints | EndpointSlice>(existing: T, updated: T) => boolean;
  /** Whether a mirrored slice has the desired content, up to `max` endpoints (H15). */
  readonly hasContent: (slice: EndpointSlice, group: MirroredGroup, max: number) => boolean;
  /** Turns creates into replacements of mirrored slices that would be deleted (H19). */
  readonly recycle: (toCreate: readonly EndpointSlice[], toDelete: readonly EndpointSlice[]) => Recycled;
}

/** Sluice's behaviour: writes what full convergence needs, and nothing else. */
export const defaultPolicy: DecisionPolicy = {
  isNoOp: isNoOpUpdate,
  hasContent: hasExactContent,
  recycle: recycleSlices,
};
