import { creation, deletion, inPlaceOf, replacement } from '../endpointslice/finalize.ts';
import { portMapKey } from '../endpointslice/port-map-key.ts';
import type { Endpoints } from '../objects/endpoints.ts';
import type { EndpointSlice } from '../objects/endpointslice.ts';
import type { Service } from '../objects/service.ts';
import { leaderAnnotation, skipMirrorLabel } from '../objects/well-known.ts';
import { type EventToRecord, emptyPlan, type Mutation, type Plan } from '../plan.ts';
import { type DecisionPolicy, soundDecisions } from '../policy.ts';
import type { MirroringCounts } from '../sync-counts.ts';
import { countMirroring } from './count-mirroring.ts';
import { groupKey, type MirroredAddresses, type MirroredGroup, mirroredAddresses } from './mirrored-addresses.ts';
import { mirroredSlice, mirrors } from './mirrored-slice.ts';
import type { Replacement } from './recycling.ts';

export interface MirroringInputs {
  readonly service: Service | null;
  readonly endpoints: Endpoints | null;
  /** All slices that name the Endpoints and this controller in their labels, those being deleted included (H8). */
  readonly slices: Iterable<EndpointSlice>;
  /** 1–1000 (A5). */
  readonly maxEndpointsPerSubset: number;
  readonly policy?: DecisionPolicy;
}

export interface MirroringDecision {
  readonly plan: Plan;
  /** Null: there is nothing to mirror. */
  readonly counts: MirroringCounts | null;
}

/** What the EndpointSliceMirroring controller wants done for one Endpoints object (section H). */
export function reconcileMirroring(inputs: MirroringInputs): MirroringDecision {
  const { service, endpoints, maxEndpointsPerSubset, policy = soundDecisions } = inputs;
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
  if (mutations.length === 0 && events.length === 0) return { plan: emptyPlan, counts };
  return { plan: { groups: mutations.length === 0 ? [] : [{ mutations }], events, incomplete: [] }, counts };
}

/** Whether the Endpoints asks to be mirrored (H2). */
export function isMirrorable({ metadata }: Endpoints): boolean {
  if (metadata.labels?.[skipMirrorLabel] === 'true') return false;
  return !Object.hasOwn(metadata.annotations ?? {}, leaderAnnotation);
}

/** Every slice goes, each in a group of its own, so one failure does not hold up the others (H6, H7). */
function cleanUp(slices: readonly EndpointSlice[]): Plan {
  if (slices.length === 0) return emptyPlan;
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
  /** The one slice of each group that stays, as it is or replaced. */
  readonly kept: ReadonlyMap<string, EndpointSlice>;
}

function changesFor(
  endpoints: Endpoints,
  groups: ReadonlyMap<string, MirroredGroup>,
  existing: ReadonlyMap<string, readonly EndpointSlice[]>,
  max: number,
  { holds }: DecisionPolicy,
): MirroringChanges {
  const toCreate: EndpointSlice[] = [];
  const toReplace: Replacement[] = [];
  const toDelete: EndpointSlice[] = [];
  const stay = new Map<string, EndpointSlice>();
  for (const [key, group] of groups) {
    const candidates = existing.get(key) ?? [];
    const kept = survivor(candidates, endpoints, group, max, holds);
    toDelete.push(...candidates.filter((slice) => slice !== kept));
    if (kept !== null) stay.set(key, kept);
    if (kept === null) toCreate.push(mirroredSlice(endpoints, group, max));
    else if (!mirrors(kept, endpoints, group, max, holds))
      toReplace.push({ doomed: kept, body: mirroredSlice(endpoints, group, max) });
  }
  for (const [key, obsolete] of existing) if (!groups.has(key)) toDelete.push(...obsolete);
  return { toCreate, toReplace, toDelete, kept: stay };
}

/** One slice per group stays: one that is right already, else one that is not being deleted, else the first by name (H15). */
function survivor(
  candidates: readonly EndpointSlice[],
  endpoints: Endpoints,
  group: MirroredGroup,
  max: number,
  holds: DecisionPolicy['holds'],
): EndpointSlice | null {
  if (candidates.length < 2) return candidates[0] ?? null;
  const living = candidates.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const right = living.find((slice) => mirrors(slice, endpoints, group, max, holds));
  return right ?? living[0] ?? candidates[0] ?? null;
}

/** Creates, then updates, then deletes (H20). */
function finalize(
  endpoints: Endpoints,
  { toCreate, toReplace, toDelete }: MirroringChanges,
  { recycle, spares }: DecisionPolicy,
): Mutation[] {
  const { creates, updates, deletes } = recycle(toCreate, toDelete);
  const mutations: Mutation[] = [];
  if (endpoints.metadata.deletionTimestamp === undefined) for (const body of creates) mutations.push(creation(body));
  for (const { doomed, body } of [...toReplace, ...updates]) {
    const updated = inPlaceOf(doomed, body);
    if (!spares(doomed, updated)) mutations.push(replacement(updated));
  }
  for (const slice of deletes) mutations.push(deletion(slice));
  return mutations;
}

/** H17. The second event counts invalid addresses too. */
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
