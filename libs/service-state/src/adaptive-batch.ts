import type { PlannedMutations } from '@sluice/messages';
import type { Endpoint, EndpointSlice, MutationGroup } from '@sluice/model';

/** `--freshness-target` and `--slice-watchers`. */
export interface AdaptiveBatching {
  /** No endpoint is to be older than this when it is written, in milliseconds. */
  readonly freshnessTargetMs: number;
  /** Clients that watch all EndpointSlices, about the number of Nodes. */
  readonly watchers: number;
}

/** What the next batch of a Service follows from. All times in milliseconds. */
export interface BatchState {
  /** Until then, changes are collected. */
  readonly until: number;
  /** A change waits for at most this long, whatever `until` says. */
  readonly maxWaitMs: number;
  /** When the last plan was applied. */
  readonly appliedAt: number;
  /** Changes of the Service per millisecond, averaged over the last plans. */
  readonly changesPerMs: number;
  /** How long a plan takes from its decision to its Outcome; falls slowly. */
  readonly writeMs: number;
}

/** Longest freshness target, and so the longest batch. */
export const maxFreshnessTargetMs = 10_000;

/** A Service may cause this much traffic to all watchers together before its changes are batched: 10 MB/s. */
const bytesPerMs = 10_000;
/** Share of the newest plan in the average. */
const weight = 0.3;
/** Of the longest write so far, this much is expected of the next one. */
const writeDecay = 0.95;
/** Share of the freshness target that a write may take longer than expected. */
const margin = 0.1;

/**
 * The batch that follows an applied plan. The period is the time in which the traffic of the plan to all watchers stays below
 * the rate; it is 0 if fewer changes are expected in it than the Service has slices, because most would share no write. The first change
 * after the period is written at once.
 */
export function nextBatch(
  before: BatchState | undefined,
  plan: Pick<PlannedMutations, 'groups' | 'causes' | 'decidedAt'>,
  now: number,
  slices: number,
  { freshnessTargetMs, watchers }: AdaptiveBatching,
): BatchState {
  const tookMs = Math.max(0, now - plan.decidedAt);
  const writeMs = Math.max(tookMs, (before?.writeMs ?? 0) * writeDecay);
  const changes = plan.causes.first.length + plan.causes.more;
  const rate = before === undefined ? 0 : changes / Math.max(1, now - before.appliedAt);
  const changesPerMs = before === undefined ? 0 : before.changesPerMs * (1 - weight) + rate * weight;
  // A change may arrive just after a decision: it waits for that plan, for the period, and for its own plan.
  const maxWaitMs = Math.max(0, freshnessTargetMs * (1 - margin) - 2 * writeMs);
  const periodMs = Math.min(maxWaitMs, Math.round((watchBytes(plan.groups) * watchers) / bytesPerMs));
  const isShared = periodMs * changesPerMs >= Math.max(1, slices);
  return { until: isShared ? now + periodMs : now, maxWaitMs, appliedAt: now, changesPerMs, writeMs };
}

/** Metadata of a slice with one owner and one entry of managedFields. */
const bytesPerSlice = 900;
/** Conditions, kinds and tags of an endpoint of a Pod, with its uid. */
const bytesPerEndpoint = 85;

/** Endpoints of a slice that are measured, evenly spread: endpoints of one Service have similar names and addresses. */
const measuredEndpoints = 8;

/**
 * About how many bytes a watcher receives for this slice in protobuf. An estimate from the parts that vary: encoding the slice
 * would cost more than deciding about it.
 */
export function sliceBytes({ metadata, endpoints }: EndpointSlice): number {
  const count = endpoints?.length ?? 0;
  const step = Math.ceil(count / measuredEndpoints);
  let [bytes, measured] = [0, 0];
  for (let i = 0; i < count; i += step) {
    bytes += endpointBytes(endpoints?.[i]);
    measured += 1;
  }
  const perEndpoint = measured === 0 ? 0 : bytes / measured;
  return bytesPerSlice + 6 * metadata.name.length + Math.round(count * perEndpoint);
}

function endpointBytes(endpoint: Endpoint | undefined): number {
  if (endpoint === undefined) return 0;
  const { addresses, nodeName = '', zone = '', hostname = '', targetRef } = endpoint;
  let bytes = bytesPerEndpoint + nodeName.length + zone.length + hostname.length;
  bytes += (targetRef?.name?.length ?? 0) + (targetRef?.namespace?.length ?? 0);
  for (const address of addresses) bytes += address.length;
  return bytes;
}

/** About how many bytes each watcher of EndpointSlices receives for these writes. */
export function watchBytes(groups: readonly MutationGroup[]): number {
  let bytes = 0;
  for (const { mutations } of groups)
    for (const mutation of mutations) {
      if (mutation.resource !== 'endpointslices') continue;
      // The event of a deletion carries the deleted object, which is mostly empty by then.
      bytes += mutation.verb === 'delete' ? bytesPerSlice : sliceBytes(mutation.object);
    }
  return bytes;
}
