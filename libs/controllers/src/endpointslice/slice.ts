import {
  type AddressType,
  addedSliceLabels,
  type Endpoint,
  type EndpointPort,
  type EndpointSlice,
  endpointSliceController,
  equalStringMaps,
  headlessLabel,
  isServiceIpSet,
  type Mutation,
  managedByLabel,
  type OwnerReference,
  type Service,
  type StringMap,
  serviceNameLabel,
  triggerTimeAnnotation,
  withoutKeys,
} from '@sluice/model';
import { portMapKey, withSortedAddresses } from './endpoint-identity.ts';

/** Returns a new slice for a Service (E25). Its name is generated when it is created. */
export function newEndpointSlice(
  service: Service,
  addressType: AddressType,
  ports: readonly EndpointPort[],
  endpoints: readonly Endpoint[],
): EndpointSlice {
  return {
    metadata: {
      name: '',
      generateName: endpointSlicePrefix(service.name),
      namespace: service.namespace,
      labels: sliceLabels(service),
      ownerReferences: [ownerReference('Service', service.name, service.uid)],
    },
    addressType,
    endpoints,
    ports,
  };
}

export function ownerReference(kind: string, name: string, uid: string): OwnerReference {
  return { apiVersion: 'v1', kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/**
 * The generateName of slices: the name followed by a dash, or the name alone if the result is not a valid prefix (E25).
 */
export function endpointSlicePrefix(name: string): string {
  const prefix = `${name}-`;
  return canBeginName(prefix) ? prefix : name;
}

const dnsSubdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Upstream validates a prefix ending in a dash with its last two characters replaced by a letter. */
function canBeginName(prefix: string): boolean {
  const name = prefix.length > 1 ? `${prefix.slice(0, -2)}a` : prefix;
  return name.length <= 253 && dnsSubdomain.test(name);
}

/** Whether this Service owns the slice, as opposed to an earlier one with the same name (E14). */
export function ownedBy(slice: EndpointSlice, service: Service): boolean {
  const owners = slice.metadata.ownerReferences ?? [];
  return owners.some(({ apiVersion, kind, uid }) => uid === service.uid && kind === 'Service' && apiVersion === 'v1');
}

const reservedLabels: readonly string[] = [serviceNameLabel, managedByLabel, headlessLabel];

/**
 * The labels of every EndpointSlice of a Service: the Service's own labels without the reserved ones, plus the reserved
 * ones (E26). To add a label to all slices, add it to `addedSliceLabels`.
 */
export function sliceLabels(service: Service): StringMap {
  let labels = labelsOf.get(service);
  if (labels === undefined) {
    labels = computeLabels(service);
    labelsOf.set(service, labels);
  }
  return labels;
}

/** A cache: most decisions follow changes of Pods, not of their Service. */
const labelsOf = new WeakMap<Service, StringMap>();

function computeLabels(service: Service): StringMap {
  return {
    ...withoutKeys(service.labels, reservedLabels),
    ...addedSliceLabels,
    ...(!isServiceIpSet(service) && { [headlessLabel]: '' }),
    [serviceNameLabel]: service.name,
    [managedByLabel]: endpointSliceController,
  };
}

/** Whether a slice has the labels of its Service's slices, ignoring the reserved ones (E26). */
export function hasSliceLabels(slice: EndpointSlice, service: Service): boolean {
  const { labels } = slice.metadata;
  const desired = sliceLabels(service);
  if (labels === desired) return true;
  return equalStringMaps(withoutKeys(labels, reservedLabels), withoutKeys(desired, reservedLabels));
}

/**
 * Turns creates into updates of slices that would be deleted, pairing the last create with the first delete (E27). A
 * recycled slice takes over the name and, as a precondition, the resourceVersion of the existing slice; nothing else.
 */
export function recycleSlices(changes: SliceChanges, canRecycle: (existing: EndpointSlice) => boolean): SliceChanges {
  const toCreate = [...changes.toCreate];
  const toUpdate = [...changes.toUpdate];
  const toDelete: EndpointSlice[] = [];
  for (const existing of changes.toDelete) {
    const last = toCreate.at(-1);
    if (last === undefined || last.addressType !== existing.addressType || !canRecycle(existing)) {
      toDelete.push(existing);
      continue;
    }
    toCreate.pop();
    toUpdate.push(replaceSlice(existing, last));
  }
  return { toCreate, toUpdate, toDelete };
}

/** Returns `body` with the name and resourceVersion of the slice that it replaces. */
export function replaceSlice(existing: EndpointSlice, body: EndpointSlice): EndpointSlice {
  const { name, resourceVersion } = existing.metadata;
  return { ...body, metadata: { ...body.metadata, name, ...(resourceVersion !== undefined && { resourceVersion }) } };
}

/** Sets the trigger-time annotation, or removes it if there is no time (E30). */
export function withTriggerTime(slice: EndpointSlice, triggerTime: string | null): EndpointSlice {
  const annotations = slice.metadata.annotations ?? {};
  if ((annotations[triggerTimeAnnotation] ?? null) === triggerTime) return slice;
  const others = withoutKeys(annotations, [triggerTimeAnnotation]);
  const set = triggerTime === null ? others : { ...others, [triggerTimeAnnotation]: triggerTime };
  return { ...slice, metadata: { ...slice.metadata, annotations: set } };
}

/** Returns the slice with ports and addresses in the order in which they are written (C23, C25). */
export function inWrittenOrder(slice: EndpointSlice): EndpointSlice {
  return {
    ...slice,
    ports: portMapKey(slice.ports).ports,
    endpoints: (slice.endpoints ?? []).map(withSortedAddresses),
  };
}

export function creation(slice: EndpointSlice): Mutation {
  return { verb: 'create', resource: 'endpointslices', object: slice };
}

export function replacement(slice: EndpointSlice): Mutation {
  return { verb: 'update', resource: 'endpointslices', object: slice };
}

export function deletion({ metadata }: EndpointSlice): Extract<Mutation, { readonly verb: 'delete' }> {
  const { name, uid, resourceVersion } = metadata;
  return {
    verb: 'delete',
    resource: 'endpointslices',
    name,
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
}

/** Changes to the slices of one port group or one address type. Slices in none of the lists stay unchanged. */
export interface SliceChanges {
  readonly toCreate: readonly EndpointSlice[];
  readonly toUpdate: readonly EndpointSlice[];
  readonly toDelete: readonly EndpointSlice[];
}
