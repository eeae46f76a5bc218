import type { Endpoint, EndpointSlice, MutationGroup, Service } from '@sluice/model';
import { portMapKey } from './endpoint-identity.ts';
import { deletion, inWrittenOrder, ownedBy, replacement, withTriggerTime } from './slice.ts';

interface CompactionInputs {
  readonly service: Service;
  /** Slices of the Service and this controller, as a decision without writes left them. */
  readonly slices: Iterable<EndpointSlice>;
  readonly maxEndpointsPerSlice: number;
  /** Maximum number of updates and deletes. */
  readonly maxWrites: number;
  /** Update at most as many slices as are deleted, so that no few endpoints are spread over many slices. */
  readonly onlyWorthwhile?: boolean;
}

export interface Compaction {
  /**
   * One group per merged set of slices: updates that add endpoints, then deletes of the slices that held them. After each
   * write, and in each prefix that a failure leaves, every endpoint is in at least one slice.
   */
  readonly groups: readonly MutationGroup[];
  /** Updates and deletes. */
  readonly writes: number;
  /** Slices that are deleted. */
  readonly removed: number;
  /** Endpoints that end up in another slice. */
  readonly moved: number;
}

/**
 * Moves the endpoints of the emptiest slices into the fullest ones, and deletes the slices they were in. Unlimited, the
 * result has the fewest slices that hold all endpoints, and fewest endpoints move. If the writes are limited, it is a step on
 * that way: the next step moves none of the same endpoints again. Only slices with the same ports and address type are
 * merged. Slices beyond the maximum are left alone.
 */
export function compactSlices(inputs: CompactionInputs): Compaction {
  const merges = [...mergeableSlices(inputs).values()].map((slices) =>
    plannedMerge(slices, inputs.maxEndpointsPerSlice),
  );
  // The sets from which most slices can be removed come first if the writes are limited.
  merges.sort((a, b) => b.sources.length - a.sources.length);
  const groups: MutationGroup[] = [];
  let [writes, removed, moved] = [0, 0, 0];
  for (const merge of merges) {
    const step = largestStep(merge, inputs.maxWrites - writes, inputs);
    if (step === 0) continue;
    const mutations = mutationsOf(merge, step, inputs.maxEndpointsPerSlice);
    groups.push({ mutations });
    writes += mutations.length;
    removed += step;
    for (const source of merge.sources.slice(0, step)) moved += sizeOf(source);
  }
  return { groups, writes, removed, moved };
}

/** The Service's slices by address type and ports. */
function mergeableSlices({ service, slices }: CompactionInputs): ReadonlyMap<string, EndpointSlice[]> {
  const sets = new Map<string, EndpointSlice[]>();
  for (const slice of slices) {
    if (slice.metadata.deletionTimestamp !== undefined || !ownedBy(slice, service)) continue;
    const key = `${slice.addressType} ${portMapKey(slice.ports).key}`;
    const set = sets.get(key);
    if (set === undefined) sets.set(key, [slice]);
    else set.push(slice);
  }
  return sets;
}

/** How to merge a set of slices completely. */
interface Merge {
  /** Slices to be emptied, the emptiest first. */
  readonly sources: readonly EndpointSlice[];
  /** Slices that stay and have room, the emptiest first, so that few of them are updated. */
  readonly targets: readonly EndpointSlice[];
}

function plannedMerge(slices: readonly EndpointSlice[], max: number): Merge {
  const fullestFirst = [...slices].sort((a, b) => sizeOf(b) - sizeOf(a));
  const endpoints = slices.reduce((sum, slice) => sum + sizeOf(slice), 0);
  let kept = 0;
  let room = 0;
  // One stays, even if all are empty.
  while (kept < slices.length && (kept === 0 || room < endpoints)) {
    room += Math.max(max, sizeOf(fullestFirst[kept]));
    kept++;
  }
  return {
    sources: fullestFirst.slice(kept).reverse(),
    targets: fullestFirst
      .slice(0, kept)
      .filter((slice) => sizeOf(slice) < max)
      .reverse(),
  };
}

/** How many sources can be emptied within the limits. */
function largestStep(
  { sources, targets }: Merge,
  maxWrites: number,
  { maxEndpointsPerSlice: max, onlyWorthwhile = false }: CompactionInputs,
): number {
  let largest = 0;
  let [moved, room, updated] = [0, 0, 0];
  for (const [index, source] of sources.entries()) {
    const step = index + 1;
    moved += sizeOf(source);
    while (room < moved) {
      room += max - sizeOf(targets[updated]);
      updated++;
    }
    if (step + updated > maxWrites) break;
    if (!onlyWorthwhile || updated <= step) largest = step;
  }
  return largest;
}

function mutationsOf({ sources, targets }: Merge, step: number, max: number): MutationGroup['mutations'] {
  const emptied = sources.slice(0, step);
  const moving: Endpoint[] = emptied.flatMap((slice) => slice.endpoints ?? []);
  const updates: EndpointSlice[] = [];
  for (const target of targets) {
    if (moving.length === 0) break;
    const endpoints = [...(target.endpoints ?? []), ...moving.splice(0, max - sizeOf(target))];
    // No endpoint has changed, so there is no trigger time.
    updates.push(withTriggerTime(inWrittenOrder({ ...target, endpoints }), null));
  }
  return [...updates.map(replacement), ...emptied.map(deletion)];
}

const sizeOf = (slice: EndpointSlice | undefined): number => slice?.endpoints?.length ?? 0;
