import type { AddressType, Endpoint, EndpointSlice, Mutation, NodeTopology, PodOnNode, Service } from '@sluice/model';
import type { DecisionPolicy } from '../controller.ts';
import { changedIndexes, samePorts } from '../pods.ts';
import type { ServiceHints } from '../trackers/topology-cache.ts';
import { desiredEndpoint } from './desired-endpoints.ts';
import { endpointsEqualBeyondHash, isSameEndpoint, portMapKey } from './endpoint-identity.ts';
import type { AddressTypeChanges } from './reconcile-by-port-mapping.ts';
import { hasSliceLabels, ownedBy, sliceLabels } from './slice.ts';

/** The slices of an address type, before hints. */
export interface Packing {
  readonly packed: AddressTypeChanges;
  /** Reasons why Pods were skipped. */
  readonly skipped: readonly string[];
  /** All endpoints, keyed by Pod name. If `changed` is present, these are the endpoints of the last decision. */
  readonly byPod: Map<string, Endpoint>;
  /** Endpoints that differ from the last decision, keyed by Pod name. */
  readonly changed?: ReadonlyMap<string, Endpoint>;
}

/** The last decision for one address type, assuming that its plan is applied. */
interface CachedDecision {
  readonly pods: readonly PodOnNode[];
  readonly maxEndpointsPerSlice: number;
  readonly packing: Packing;
  /** The endpoint lists of all slices with their port-map keys. Every endpoint is in exactly one list. */
  readonly lists: ReadonlyMap<readonly Endpoint[], string>;
}

/**
 * Cache of the last decision per Service object (ADR 0044). A Service object is replaced whenever it changes. The cache
 * only saves work: a decision with it equals a decision without it.
 */
const decisionCache = new WeakMap<Service, Map<AddressType, CachedDecision>>();

/**
 * Packs slices incrementally if only the state of some Pods has changed since the last decision, which is the common
 * case. The cost then depends on the changed Pods, not on all. Returns undefined if a full decision is needed.
 */
export function packFromCache(inputs: AddressTypeInputs): Packing | undefined {
  const { service, type, slices, pods, maxEndpointsPerSlice } = inputs;
  const cached = decisionCache.get(service)?.get(type);
  if (cached?.maxEndpointsPerSlice !== maxEndpointsPerSlice || !isCurrent(slices, service, cached.lists))
    return undefined;
  const changed = changedEndpoints(cached, service, pods, type);
  if (changed === undefined) return undefined;
  const labels = sliceLabels(service);
  const updates = new Map<string, EndpointSlice[]>(cached.packing.packed.keys.map((key) => [key, []]));
  const lists = listsOf(changed.keys(), cached);
  const current = (endpoint: Endpoint): Endpoint => {
    const name = endpoint.targetRef?.name ?? '';
    return changed.get(name) ?? cached.packing.byPod.get(name) ?? endpoint;
  };
  for (const slice of slices) {
    const held = slice.endpoints ?? [];
    const isChanged = lists.has(held);
    if (!isChanged && hasSliceLabels(slice, service)) continue;
    const endpoints = isChanged ? held.map(current) : [...held];
    const update = { ...slice, metadata: { ...slice.metadata, labels }, endpoints };
    updates.get(cached.lists.get(held) ?? '')?.push(update);
  }
  const { keys, totals } = cached.packing.packed;
  const toUpdate = [...updates.values()].flat();
  const packed = { keys, toCreate: [], toUpdate, toDelete: [], added: 0, removed: 0, totals };
  return { ...cached.packing, packed, changed };
}

/** Whether the slices are exactly those with the cached endpoint lists and ports, and belong to the Service. */
function isCurrent(slices: readonly EndpointSlice[], service: Service, lists: CachedDecision['lists']): boolean {
  const held = new Set(slices.map(({ endpoints }) => endpoints));
  return (
    held.size === slices.length &&
    held.size === lists.size &&
    slices.every((slice) => ownedBy(slice, service) && lists.get(slice.endpoints ?? []) === keyOf(slice))
  );
}

/**
 * Returns the endpoints that changed, keyed by Pod name, or undefined if one was added, removed or belongs in another
 * group.
 */
function changedEndpoints(
  { pods: before, packing: { byPod } }: CachedDecision,
  service: Service,
  pods: readonly PodOnNode[],
  type: AddressType,
): ReadonlyMap<string, Endpoint> | undefined {
  const indexes = changedIndexes(before, pods);
  if (indexes === undefined) return undefined;
  const changed = new Map<string, Endpoint>();
  for (const index of indexes) {
    const [was, is] = [before[index], pods[index]];
    const endpoint = is && desiredEndpoint(service, is, type);
    const known = is && byPod.get(is.pod.name);
    if (!was || !known || !endpoint) return undefined;
    if (!isSameEndpoint(known, endpoint) || !samePorts(service, was.pod, is.pod)) return undefined;
    if (!endpointsEqualBeyondHash(known, endpoint)) changed.set(is.pod.name, endpoint);
  }
  return changed;
}

/** The endpoint lists that contain an earlier version of a changed endpoint. */
function listsOf(
  changed: Iterable<string>,
  { lists, packing: { byPod } }: CachedDecision,
): ReadonlySet<readonly Endpoint[]> {
  const found = new Set<readonly Endpoint[]>();
  const all = [...lists.keys()];
  for (const name of changed) {
    const known = byPod.get(name);
    // Endpoints of the last decision are found by identity; those that others wrote or that received hints, by Pod
    // name.
    const list =
      all.find((one) => known !== undefined && one.includes(known)) ??
      all.find((one) => one.some(({ targetRef }) => targetRef?.name === name));
    if (list !== undefined) found.add(list);
  }
  return found;
}

/** Caches the result of applying these mutations for the next decision. */
export function cachePacking(inputs: AddressTypeInputs, packing: Packing, mutations: readonly Mutation[]): void {
  const { service, type, slices, pods, maxEndpointsPerSlice } = inputs;
  const { packed, byPod, changed = [] } = packing;
  for (const [name, endpoint] of changed) byPod.set(name, endpoint);
  const types = decisionCache.get(service) ?? new Map<AddressType, CachedDecision>();
  decisionCache.set(service, types);
  const lists = listsAfter(slices, mutations);
  const held = [...lists.keys()].reduce((sum, { length }) => sum + length, 0);
  // Not cached if a slice may be a placeholder, Pods share an endpoint, or a deletion may fail: the next decision is then a full one.
  const isCacheable =
    held > 0 && held === packed.totals.endpoints && held === byPod.size && packed.toDelete.length === 0;
  // Without the slices to write: after the plan, the state has them.
  const kept = { packed: { ...packed, toCreate: [], toUpdate: [], toDelete: [] }, skipped: packing.skipped, byPod };
  if (isCacheable) types.set(type, { pods, maxEndpointsPerSlice, packing: kept, lists });
  else types.delete(type);
}

function listsAfter(slices: readonly EndpointSlice[], mutations: readonly Mutation[]): CachedDecision['lists'] {
  const written = mutations.flatMap((one) =>
    one.verb !== 'delete' && one.resource === 'endpointslices' ? one.object : [],
  );
  const names = new Set(written.map(({ metadata }) => metadata.name));
  const lists = new Map<readonly Endpoint[], string>();
  for (const slice of slices) if (!names.has(slice.metadata.name)) lists.set(slice.endpoints ?? [], keyOf(slice));
  for (const slice of written) lists.set(slice.endpoints ?? [], keyOf(slice));
  return lists;
}

const keyOf = ({ ports }: EndpointSlice): string => portMapKey(ports).key;

/** Inputs of the decision for one address type of a Service. */
export interface AddressTypeInputs {
  readonly service: Service;
  readonly type: AddressType;
  readonly pods: readonly PodOnNode[];
  /** Slices of this type that are not being deleted. */
  readonly slices: readonly EndpointSlice[];
  readonly triggerTime: string | null;
  readonly topology: NodeTopology | null;
  readonly hints: ServiceHints | null;
  readonly maxEndpointsPerSlice: number;
  readonly policy: DecisionPolicy;
}
