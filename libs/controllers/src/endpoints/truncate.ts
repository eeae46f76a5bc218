import type { EndpointAddress, EndpointSubset } from '@sluice/model';

/** Maximum number of addresses, ready and not ready, in an Endpoints object (D27). */
export const endpointsCapacity = 1000;

export interface TruncatedSubsets {
  readonly truncated: boolean;
  readonly subsets: readonly EndpointSubset[];
}

/**
 * Truncates the subsets to {@link endpointsCapacity}, proportionally, dropping not-ready addresses first (D27, D28).
 */
export function truncateSubsets(subsets: readonly EndpointSubset[]): TruncatedSubsets {
  const ready = countReady(subsets);
  const notReady = countAddresses(subsets) - ready;
  if (ready + notReady <= endpointsCapacity) return { truncated: false, subsets };
  return {
    truncated: true,
    subsets: ready > endpointsCapacity ? cutReady(subsets, ready) : cutNotReady(subsets, ready, notReady),
  };
}

export function countAddresses(subsets: readonly EndpointSubset[]): number {
  let count = 0;
  for (const subset of subsets) count += (subset.addresses?.length ?? 0) + (subset.notReadyAddresses?.length ?? 0);
  return count;
}

function countReady(subsets: readonly EndpointSubset[]): number {
  let count = 0;
  for (const subset of subsets) count += subset.addresses?.length ?? 0;
  return count;
}

function cutReady(subsets: readonly EndpointSubset[], total: number): EndpointSubset[] {
  const share = shares(total, endpointsCapacity);
  return subsets.map(({ notReadyAddresses: _dropped, ...subset }) => ({
    ...subset,
    ...firstOf('addresses', subset.addresses, share),
  }));
}

function cutNotReady(subsets: readonly EndpointSubset[], ready: number, total: number): EndpointSubset[] {
  const share = shares(total, endpointsCapacity - ready);
  return subsets.map((subset) => ({ ...subset, ...firstOf('notReadyAddresses', subset.notReadyAddresses, share) }));
}

function firstOf(
  field: 'addresses' | 'notReadyAddresses',
  addresses: readonly EndpointAddress[] | null | undefined,
  share: (count: number) => number,
): EndpointSubset {
  const kept = share(addresses?.length ?? 0);
  return addresses ? { [field]: addresses.slice(0, kept) } : {};
}

/** Returns a function that allots each subset its proportional share of the room, rounded up, until none is left. */
function shares(total: number, room: number): (count: number) => number {
  let left = room;
  return (count) => {
    const share = Math.min(Math.ceil((count / total) * room), left);
    left -= share;
    return share;
  };
}
