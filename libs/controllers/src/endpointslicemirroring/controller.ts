import {
  type EndpointSlice,
  type Endpoints,
  type EventToRecord,
  endpointSliceMirroringController,
  leaderAnnotation,
  type Mutation,
  type Plan,
  type Service,
  skipMirrorLabel,
} from '@sluice/model';
import { type ControllerDescriptor, type DecisionPolicy, defaultPolicy, type FailedPlan } from '../controller.ts';
import type { MirroringCounts } from '../controller-metrics.ts';
import { portMapKey } from '../endpointslice/endpoint-identity.ts';
import { creation, deletion, replacement, replaceSlice } from '../endpointslice/slice.ts';
import { aggregateText, cleanUpFailureText, mirroringFailureText } from '../failure-events.ts';
import { countMirroring, mirroringMetricRows, mirroringMetrics } from './metrics.ts';
import { groupKey, type MirroredAddresses, type MirroredGroup, mirroredAddresses } from './mirrored-addresses.ts';
import { mirroredSlice, mirrors, type Replacement } from './mirrored-slice.ts';

export const mirroringController: ControllerDescriptor = {
  name: 'endpointslicemirroring',
  flags: ['endpointslice-mirroring-controller', 'endpointslicemirroring'],
  settings: {
    batchPeriod: {
      flag: 'mirroring-endpointslice-updates-batch-period',
      about: 'time to wait before repairing mirrored EndpointSlices',
    },
    concurrentSyncs: {
      flag: 'mirroring-concurrent-service-endpoint-syncs',
      about: 'the same for the EndpointSliceMirroring controller',
      max: 50,
    },
  },
  client: 'endpointslicemirroring-controller',
  managedBy: endpointSliceMirroringController,
  reads: ['services', 'endpoints'],
  writes: 'endpointslices',
  owner: 'endpoints',
  reconcile: (inputs) => ({ ...reconcileMirroring(inputs), triggers: null, hints: null }),
  trackers: {
    unchanged: true,
    needsNone: (service, endpoints) => !endpoints || !isMirrorable(endpoints) || service?.selector !== null,
  },
  events: {
    component: 'endpoint-slice-mirroring-controller',
    reasons: ['InvalidIPAddress', 'TooManyAddressesToMirror'],
    failureText,
  },
  metrics: {
    queue: 'endpoint_slice_mirroring',
    own: { subsystem: 'endpoint_slice_mirroring_controller', rows: mirroringMetricRows, open: mirroringMetrics },
  },
};

function failureText({ service, failures, groups }: FailedPlan): string {
  // Only a clean-up has several groups: one per slice.
  if (groups.length > 1) {
    const messages = failures.map(({ message }) => message);
    return cleanUpFailureText(service, messages, groups.length);
  }
  return aggregateText(failures.map((failure) => mirroringFailureText(service, failure))) ?? '';
}

interface MirroringInputs {
  readonly service: Service | null;
  readonly endpoints: Endpoints | null;
  /** All slices labelled with the Endpoints' name and this controller, including those being deleted (H8). */
  readonly slices: Iterable<EndpointSlice>;
  /** 1–1000 (A5). */
  readonly maxEndpointsPerSubset: number;
  readonly policy?: DecisionPolicy;
}

interface MirroringDecision {
  readonly plan: Plan;
  /** Null if there is nothing to mirror. */
  readonly counts: MirroringCounts | null;
}

/** Decides what the EndpointSliceMirroring controller writes for one Endpoints object (section H). */
export function reconcileMirroring(inputs: MirroringInputs): MirroringDecision {
  const { service, endpoints, maxEndpointsPerSubset, policy = defaultPolicy } = inputs;
  const slices = [...inputs.slices].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  if (endpoints === null || !isMirrorable(endpoints) || service === null || service.selector !== null) {
    return { plan: cleanUp(slices), counts: null };
  }
  const mirrored = mirroredAddresses(endpoints, maxEndpointsPerSubset);
  const existing = slicesByGroup(slices);
  const changes = changesFor(endpoints, mirrored.groups, existing, maxEndpointsPerSubset, policy);
  const mutations = finalize(endpoints, changes, policy);
  const counts = countMirroring(mirrored, existing, changes.kept, maxEndpointsPerSubset);
  const events = skippedEvents(endpoints, mirrored, maxEndpointsPerSubset);
  return { plan: { groups: mutations.length === 0 ? [] : [{ mutations }], events, incomplete: [] }, counts };
}

/** Whether the Endpoints should be mirrored (H2). */
export function isMirrorable({ metadata }: Endpoints): boolean {
  if (metadata.labels?.[skipMirrorLabel] === 'true') return false;
  return !Object.hasOwn(metadata.annotations ?? {}, leaderAnnotation);
}

/** Deletes every slice in a group of its own, so that one failure does not stop the others (H6, H7). */
function cleanUp(slices: readonly EndpointSlice[]): Plan {
  return { groups: slices.map((slice) => ({ mutations: [deletion(slice)] })), events: [], incomplete: [] };
}

function slicesByGroup(slices: readonly EndpointSlice[]): ReadonlyMap<string, readonly EndpointSlice[]> {
  const existing = new Map<string, EndpointSlice[]>();
  for (const slice of slices) {
    const key = groupKey(slice.addressType, portMapKey(slice.ports).key);
    const sameKey = existing.get(key);
    if (sameKey === undefined) existing.set(key, [slice]);
    else sameKey.push(slice);
  }
  return existing;
}

interface MirroringChanges {
  readonly toCreate: readonly EndpointSlice[];
  readonly toReplace: readonly Replacement[];
  readonly toDelete: readonly EndpointSlice[];
  /** The slice of each group that is kept, unchanged or replaced. */
  readonly kept: ReadonlyMap<string, EndpointSlice>;
}

function changesFor(
  endpoints: Endpoints,
  groups: ReadonlyMap<string, MirroredGroup>,
  existing: ReadonlyMap<string, readonly EndpointSlice[]>,
  max: number,
  { hasContent }: DecisionPolicy,
): MirroringChanges {
  const toCreate: EndpointSlice[] = [];
  const toReplace: Replacement[] = [];
  const toDelete: EndpointSlice[] = [];
  const stay = new Map<string, EndpointSlice>();
  for (const [key, group] of groups) {
    const candidates = existing.get(key) ?? [];
    const kept = sliceToKeep(candidates, endpoints, group, max, hasContent);
    toDelete.push(...candidates.filter((slice) => slice !== kept));
    if (kept !== null) stay.set(key, kept);
    if (kept === null) toCreate.push(mirroredSlice(endpoints, group, max));
    else if (!mirrors(kept, endpoints, group, max, hasContent))
      toReplace.push({ existing: kept, body: mirroredSlice(endpoints, group, max) });
  }
  for (const [key, obsolete] of existing) if (!groups.has(key)) toDelete.push(...obsolete);
  return { toCreate, toReplace, toDelete, kept: stay };
}

/**
 * Selects the slice to keep of a group: one that is up to date, else one that is not being deleted, else the first by
 * name (H15).
 */
function sliceToKeep(
  candidates: readonly EndpointSlice[],
  endpoints: Endpoints,
  group: MirroredGroup,
  max: number,
  hasContent: DecisionPolicy['hasContent'],
): EndpointSlice | null {
  if (candidates.length < 2) return candidates[0] ?? null;
  const living = candidates.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const right = living.find((slice) => mirrors(slice, endpoints, group, max, hasContent));
  return right ?? living[0] ?? candidates[0] ?? null;
}

/** Orders the mutations: creates, updates, deletes (H20). */
function finalize(
  endpoints: Endpoints,
  { toCreate, toReplace, toDelete }: MirroringChanges,
  { recycle, isNoOp }: DecisionPolicy,
): Mutation[] {
  const { creates, updates, deletes } = recycle(toCreate, toDelete);
  const mutations: Mutation[] = [];
  if (endpoints.metadata.deletionTimestamp === undefined) for (const body of creates) mutations.push(creation(body));
  for (const { existing, body } of [...toReplace, ...updates]) {
    const updated = replaceSlice(existing, body);
    if (!isNoOp(existing, updated)) mutations.push(replacement(updated));
  }
  for (const slice of deletes) mutations.push(deletion(slice));
  return mutations;
}

/** Events about skipped addresses. The second one counts invalid addresses too (H17). */
function skippedEvents(
  { metadata }: Endpoints,
  { invalid, skipped }: MirroredAddresses,
  max: number,
): readonly EventToRecord[] {
  const { namespace, name, uid } = metadata;
  const regarding = { kind: 'Endpoints', namespace, name, ...(uid !== undefined && { uid }) } as const;
  const warning = (reason: string, message: string): EventToRecord => ({ type: 'Warning', reason, message, regarding });
  const events: EventToRecord[] = [];
  if (invalid > 0) {
    events.push(
      warning('InvalidIPAddress', `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`),
    );
  }
  if (skipped > invalid) {
    const message = `A max of ${max} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`;
    events.push(warning('TooManyAddressesToMirror', message));
  }
  return events;
}
