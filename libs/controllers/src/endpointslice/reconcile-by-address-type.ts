import {
  type AddressType,
  type EndpointSlice,
  type Mutation,
  type Service,
  type StringMap,
  structurallyEqual,
} from '@sluice/model';
import type { AddressTypeCounts, SliceTotals } from '../controller-metrics.ts';
import type { ServiceHints } from '../trackers/topology-cache.ts';
import { type AddressTypeInputs, cachePacking, type Packing, packFromCache } from './cached-packing.ts';
import { desiredEndpoints, type PortGroup } from './desired-endpoints.ts';
import { portMapKey } from './endpoint-identity.ts';
import { type AddressTypeChanges, reconcileByPortMapping } from './reconcile-by-port-mapping.ts';
import {
  creation,
  deletion,
  inWrittenOrder,
  newEndpointSlice,
  ownedBy,
  recycleSlices,
  replacement,
  type SliceChanges,
  withTriggerTime,
} from './slice.ts';
import { disableHints, type HintEvent, hintsEnabled, type SliceInfo, trafficDistributionHints } from './slice-hints.ts';
import { addHints, type HintedSlices } from './topology-hints.ts';

export interface AddressTypeDecision {
  readonly mutations: readonly Mutation[];
  readonly hints: ServiceHints | null;
  readonly events: readonly HintEvent[];
  readonly skipped: readonly string[];
  readonly counts: AddressTypeCounts;
  /** For this address type alone. */
  readonly totals: SliceTotals;
}

/** Decides the slices of one address type of a Service (E14–E30). */
export function reconcileByAddressType(inputs: AddressTypeInputs): AddressTypeDecision {
  const { service, type, slices } = inputs;
  const packing = packFromCache(inputs) ?? packAll(inputs);
  const { packed, skipped } = packing;
  const changes = withPlaceholder(packed, service, type, slices);
  const totals = { ...packed.totals, slices: slices.length + changes.toCreate.length - changes.toDelete.length };
  const { lists, hints, events } = hintSlices(inputs, changes);
  const mutations = finalize(inputs, { ...changes, toCreate: lists.toCreate, toUpdate: lists.toUpdate });
  cachePacking(inputs, packing, mutations);
  const { added, removed } = packed;
  return { mutations, hints, events, skipped, counts: { added, removed, changed: mutations.length }, totals };
}

function packAll(inputs: AddressTypeInputs): Packing {
  const { groups, skipped, byPod } = desiredEndpoints(inputs.service, inputs.pods, inputs.type);
  return { packed: reconcilePortMappings(inputs, groups), skipped, byPod };
}

/** Reconciles each port group. Slices of another owner, or with ports that no Pod has, are deleted (E14, E23). */
function reconcilePortMappings(inputs: AddressTypeInputs, groups: ReadonlyMap<string, PortGroup>): AddressTypeChanges {
  const { service, type, slices, maxEndpointsPerSlice } = inputs;
  const toCreate: EndpointSlice[] = [];
  const toUpdate: EndpointSlice[] = [];
  const toDelete: EndpointSlice[] = [];
  const existing = new Map<string, EndpointSlice[]>();
  for (const slice of slices) {
    if (!ownedBy(slice, service)) {
      toDelete.push(slice);
      continue;
    }
    const { key } = portMapKey(slice.ports);
    const sameKey = existing.get(key);
    if (sameKey === undefined) existing.set(key, [slice]);
    else sameKey.push(slice);
  }
  let [added, removed, endpoints, desiredSlices] = [0, 0, 0, 0];
  for (const [key, group] of groups) {
    // Count before reconciling, which empties the set.
    endpoints += group.endpoints.size;
    desiredSlices += Math.ceil(group.endpoints.size / maxEndpointsPerSlice);
    const packed = reconcileByPortMapping(service, type, group, existing.get(key) ?? [], maxEndpointsPerSlice);
    toCreate.push(...packed.toCreate);
    toUpdate.push(...packed.toUpdate);
    toDelete.push(...packed.toDelete);
    added += packed.added;
    removed += packed.removed;
  }
  for (const [key, obsolete] of existing) if (!groups.has(key)) toDelete.push(...obsolete);
  // Without endpoints there is still a placeholder (E24).
  const totals = { endpoints, desiredSlices: Math.max(1, desiredSlices) };
  return { keys: [...groups.keys()], toCreate, toUpdate, toDelete, added, removed, totals };
}

/** Sets hints by topology if the Service asks for them, otherwise by traffic distribution (F11, G1). */
function hintSlices(inputs: AddressTypeInputs, changes: SliceChanges): HintedSlices {
  const { service, type, topology, hints } = inputs;
  const lists = listsOf(inputs.slices, changes);
  if (hintsEnabled(service.annotations)) return addHints(lists, type, topology, hints);
  return { lists: trafficDistributionHints(service.trafficDistribution, lists), ...disableHints(type, hints) };
}

function listsOf(existing: readonly EndpointSlice[], { toCreate, toUpdate, toDelete }: SliceChanges): SliceInfo {
  const changed = new Set<string>();
  for (const { metadata } of toUpdate) changed.add(metadata.name);
  for (const { metadata } of toDelete) changed.add(metadata.name);
  return { toCreate, toUpdate, unchanged: existing.filter(({ metadata }) => !changed.has(metadata.name)) };
}

/** Orders the mutations: creates, updates, deletes (E27–E31). Drops updates without effect. */
function finalize(inputs: AddressTypeInputs, changes: SliceChanges): Mutation[] {
  const { service, slices, triggerTime, policy } = inputs;
  const recycled = recycleSlices(changes, (slice) => ownedBy(slice, service));
  const existing = new Map(slices.map((slice) => [slice.metadata.name, slice]));
  const mutations: Mutation[] = [];
  if (!service.deleting)
    for (const slice of recycled.toCreate) mutations.push(creation(withTriggerTime(slice, triggerTime)));
  for (const slice of recycled.toUpdate) {
    const updated = withTriggerTime(inWrittenOrder(slice), triggerTime);
    const before = existing.get(updated.metadata.name);
    if (before === undefined || !policy.isNoOp(before, updated)) mutations.push(replacement(updated));
  }
  for (const slice of recycled.toDelete) mutations.push(deletion(slice));
  return mutations;
}

/** Ensures that an address type keeps at least one slice, if necessary an empty placeholder (E24). */
export function withPlaceholder(
  changes: SliceChanges,
  service: Service,
  type: AddressType,
  existing: readonly EndpointSlice[],
): SliceChanges {
  const { toCreate, toDelete } = changes;
  if (existing.length !== toDelete.length || toCreate.length > 0) return changes;
  const placeholder = newEndpointSlice(service, type, [], []);
  const [only] = toDelete;
  if (toDelete.length === 1 && only !== undefined && isPlaceholder(only, placeholder))
    return { ...changes, toDelete: [] };
  return { ...changes, toCreate: [placeholder] };
}

/**
 * Whether an existing slice can serve as the placeholder. As upstream, this ignores its name, annotations and owner; a
 * field unknown to Sluice rules it out.
 */
function isPlaceholder(slice: EndpointSlice, placeholder: EndpointSlice): boolean {
  const { metadata, addressType, endpoints, ports, ...unknown } = slice;
  return (
    addressType === placeholder.addressType &&
    (endpoints ?? []).length === 0 &&
    (ports ?? []).length === 0 &&
    structurallyEqual(unknown, {}) &&
    metadata.namespace === placeholder.metadata.namespace &&
    equalLabels(metadata.labels ?? {}, placeholder.metadata.labels ?? {})
  );
}

/** A missing label equals an empty one here, so a change of the headless label alone is not seen (E24). */
function equalLabels(a: StringMap, b: StringMap): boolean {
  return Object.keys({ ...a, ...b }).every((key) => (a[key] ?? '') === (b[key] ?? ''));
}
