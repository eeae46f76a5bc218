import { compactSlices, type SyncCounts } from '@sluice/controllers';
import type { Controller, MutationGroup } from '@sluice/model';
import type { Requests } from './controller-state.ts';
import { slicesOf } from './reconcile.ts';
import type { ServiceState } from './service-state.ts';
import type { Settings } from './settings.ts';

/** The writes of the requested compaction, and the number of slices after them. */
interface Compacted {
  readonly groups: readonly MutationGroup[];
  readonly counts: SyncCounts | null;
  readonly compaction: { readonly removed: number; readonly moved: number };
}

/**
 * Compacts the slices that a decision without writes has left as they are. Undefined if nothing can be merged within the
 * limits of the request, or the request has expired.
 */
export function compact(
  state: ServiceState,
  request: NonNullable<Requests['compaction']> & { readonly controller: Controller },
  counts: SyncCounts | null,
  now: number,
  { maxEndpointsPerSlice }: Settings,
): Compacted | undefined {
  const service = state.service?.service;
  if (!service || request.expiresAt < now) return undefined;
  const { groups, removed, moved } = compactSlices({
    service,
    slices: slicesOf(state, request.controller),
    maxEndpointsPerSlice,
    maxWrites: request.maxWrites,
    onlyWorthwhile: request.onlyWorthwhile,
  });
  if (groups.length === 0) return undefined;
  return { groups, counts: withoutSlices(counts, removed), compaction: { removed, moved } };
}

export function withoutSlices(counts: SyncCounts | null, removed: number): SyncCounts | null {
  if (counts === null) return null;
  return { ...counts, service: { ...counts.service, slices: counts.service.slices - removed } };
}
