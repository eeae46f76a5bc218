import type { AddressType, Endpoint, EndpointSlice } from '../objects/endpointslice.ts';
import type { PodOnNode } from '../objects/pod.ts';
import type { Service } from '../objects/service.ts';
import type { Mutation } from '../plan.ts';
import { changedPlaces } from '../pods/changed-places.ts';
import { samePorts } from '../pods/find-port.ts';
import type { AddressTypeInputs } from './address-type-inputs.ts';
import { desiredEndpoint } from './desired-endpoints.ts';
import { equalBeyondIdentity } from './endpoint-identity.ts';
import { isSameEndpoint } from './endpoint-set.ts';
import { hasLabelsOf, isOwnedBy, sliceLabels } from './new-slice.ts';
import type { PackedGroups } from './packing.ts';
import { portMapKey } from './port-map-key.ts';

/** The slices of an address type, before hints. */
export interface Packing {
  readonly packed: PackedGroups;
  /** Why Pods were left out. */
  readonly skipped: readonly string[];
  /** All endpoints, by the names of their Pods; where `changed` is given, as they were before. */
  readonly byPod: Map<string, Endpoint>;
  /** Those that are others than at the last decision. */
  readonly changed?: ReadonlyMap<string, Endpoint>;
}

/** What the slices of one address type are once the last decision is carried out. */
interface Settled {
  readonly pods: readonly PodOnNode[];
  readonly maxEndpointsPerSlice: number;
  readonly packing: Packing;
  /** The lists of endpoints of all slices, with the keys of their ports: together, each endpoint once. */
  readonly lists: ReadonlyMap<readonly Endpoint[], string>;
}

/**
 * By Service, an object that is replaced when anything of it changes. A memory of what follows from inputs, never an input:
 * what is decided with it is what would be decided without.
 */
const settledSlices = new WeakMap<Service, Map<AddressType, Settled>>();

/**
 * The new slices where nothing but the state of some Pods has changed since the last decision, as is most often so: then it
 * is enough to look at these Pods and the slices that hold them, however many others there are. Otherwise undefined.
 */
export function repackSettled(inputs: AddressTypeInputs): Packing | undefined {
  const { service, type, slices, pods, maxEndpointsPerSlice } = inputs;
  const settled = settledSlices.get(service)?.get(type);
  if (settled?.maxEndpointsPerSlice !== maxEndpointsPerSlice || !areHeld(slices, service, settled.lists))
    return undefined;
  const changed = changedEndpoints(settled, service, pods, type);
  if (changed === undefined) return undefined;
  const labels = sliceLabels(service);
  const updates = new Map<string, EndpointSlice[]>(settled.packing.packed.keys.map((key) => [key, []]));
  const lists = listsOf(changed.keys(), settled);
  const isNow = (endpoint: Endpoint): Endpoint => {
    const name = endpoint.targetRef?.name ?? '';
    return changed.get(name) ?? settled.packing.byPod.get(name) ?? endpoint;
  };
  for (const slice of slices) {
    const held = slice.endpoints ?? [];
    const isChanged = lists.has(held);
    if (!isChanged && hasLabelsOf(slice, service)) continue;
    const endpoints = isChanged ? held.map(isNow) : [...held];
    const update = { ...slice, metadata: { ...slice.metadata, labels }, endpoints };
    updates.get(settled.lists.get(held) ?? '')?.push(update);
  }
  const { keys, totals } = settled.packing.packed;
  const toUpdate = [...updates.values()].flat();
  const packed = { keys, toCreate: [], toUpdate, toDelete: [], added: 0, removed: 0, totals };
  return { ...settled.packing, packed, changed };
}

/** Whether these are the slices with those lists of endpoints and ports, and the Service's. */
function areHeld(slices: readonly EndpointSlice[], service: Service, lists: Settled['lists']): boolean {
  const held = new Set(slices.map(({ endpoints }) => endpoints));
  return (
    held.size === slices.length &&
    held.size === lists.size &&
    slices.every((slice) => isOwnedBy(slice, service) && lists.get(slice.endpoints ?? []) === keyOf(slice))
  );
}

/** Endpoints that are others than before, by the names of their Pods; undefined if any came, went, or belongs elsewhere. */
function changedEndpoints(
  { pods: before, packing: { byPod } }: Settled,
  service: Service,
  pods: readonly PodOnNode[],
  type: AddressType,
): ReadonlyMap<string, Endpoint> | undefined {
  const places = changedPlaces(before, pods);
  if (places === undefined) return undefined;
  const changed = new Map<string, Endpoint>();
  for (const place of places) {
    const [was, is] = [before[place], pods[place]];
    const endpoint = is && desiredEndpoint(service, is, type);
    const known = is && byPod.get(is.pod.name);
    if (!was || !known || !endpoint) return undefined;
    if (!isSameEndpoint(known, endpoint) || !samePorts(service, was.pod, is.pod)) return undefined;
    if (!equalBeyondIdentity(known, endpoint)) changed.set(is.pod.name, endpoint);
  }
  return changed;
}

/** The lists that hold an earlier version of a changed endpoint. */
function listsOf(changed: Iterable<string>, { lists, packing: { byPod } }: Settled): ReadonlySet<readonly Endpoint[]> {
  const found = new Set<readonly Endpoint[]>();
  const all = [...lists.keys()];
  for (const name of changed) {
    const known = byPod.get(name);
    // What was decided here is found as the same object; what others wrote, or hints were added to, by its name.
    const list =
      all.find((one) => known !== undefined && one.includes(known)) ??
      all.find((one) => one.some(({ targetRef }) => targetRef?.name === name));
    if (list !== undefined) found.add(list);
  }
  return found;
}

/** Notes what the slices are after these mutations, for the next decision. */
export function noteSettled(inputs: AddressTypeInputs, packing: Packing, mutations: readonly Mutation[]): void {
  const { service, type, slices, pods, maxEndpointsPerSlice } = inputs;
  const { packed, byPod, changed = [] } = packing;
  for (const [name, endpoint] of changed) byPod.set(name, endpoint);
  const types = settledSlices.get(service) ?? new Map<AddressType, Settled>();
  settledSlices.set(service, types);
  const lists = listsAfter(slices, mutations);
  const held = [...lists.keys()].reduce((sum, { length }) => sum + length, 0);
  // An empty slice may be a placeholder, Pods may share an endpoint: then the next decision looks at everything.
  const isSimple = held > 0 && held === packed.totals.endpoints && held === byPod.size && packed.toDelete.length === 0;
  if (isSimple) types.set(type, { pods, maxEndpointsPerSlice, packing, lists });
  else types.delete(type);
}

function listsAfter(slices: readonly EndpointSlice[], mutations: readonly Mutation[]): Settled['lists'] {
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
