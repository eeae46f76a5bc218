import type { StoredObject } from '@sluice/fake-apiserver';
import { slicesOf } from './actual-service.ts';
import type { ClusterView } from './cluster-view.ts';
import { isMirrored, selects } from './expected-service.ts';
import {
  managedByLabel,
  mirrorManager,
  type PodObject,
  type ServiceObject,
  serviceNameLabel,
  sliceManager,
} from './objects.ts';

const zoneLabel = 'topology.kubernetes.io/zone';
const controllers = ['endpoints', 'endpointslice', 'endpointslicemirroring'] as const;
const controlPlaneLabels = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master'];
const hintAnnotations = ['service.kubernetes.io/topology-aware-hints', 'service.kubernetes.io/topology-mode'];

/**
 * What a reconciler should know about the Service of a name once nothing changes any more: a value by field, as it stores
 * them. Computed from the objects of the cluster by code that shares nothing with the pipeline.
 */
export function knownFields(view: ClusterView, namespace: string, name: string): ReadonlyMap<string, unknown> {
  const fields = new Map<string, unknown>();
  const service = view.get('services', namespace, name) as ServiceObject | undefined;
  if (service !== undefined) {
    fields.set('service', knownService(service));
    if (hasTopology(service)) fields.set('topology', knownTopology(view));
    const pods = selectedPods(view, service);
    for (const pod of pods) fields.set(`pod/${pod.metadata.name}`, knownPod(view, pod));
    for (const controller of controllers) fields.set(`controller/${controller}`, normalized({}));
    if (selects(service)) {
      const counted = { ...countedSlices(view, service, sliceManager), hinting: hintingOf(service) };
      fields.set('controller/endpointslice', normalized({ counted }));
      fields.set('controller/endpoints:triggers', triggerTimes(service, pods));
      fields.set('controller/endpointslice:triggers', triggerTimes(service, pods));
    }
  }
  const endpoints = view.get('endpoints', namespace, name);
  if (service !== undefined && endpoints !== undefined && isMirrored(service, endpoints))
    fields.set(
      'controller/endpointslicemirroring',
      normalized({ counted: countedSlices(view, service, mirrorManager) }),
    );
  if (endpoints !== undefined) fields.set('endpoints', knownWritten(endpoints));
  for (const slice of view.all('endpointslices')) {
    const { metadata } = slice;
    if (isWatched(slice) && metadata.namespace === namespace && metadata.labels?.[serviceNameLabel] === name)
      fields.set(`slice/${metadata.name}`, knownWritten(slice));
  }
  return fields;
}

/** Slices of other controllers are of no interest. */
function isWatched({ metadata: { labels = {} } }: StoredObject): boolean {
  return [sliceManager, mirrorManager].includes(labels[managedByLabel] ?? '');
}

function knownService({ metadata, spec }: ServiceObject): unknown {
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => hintAnnotations.includes(key));
  return normalized({
    namespace: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid,
    creationTimestamp: metadata.creationTimestamp,
    deleting: metadata.deletionTimestamp !== undefined,
    labels: metadata.labels,
    annotations: Object.fromEntries(annotations),
    type: spec.type,
    // Without labels it selects every Pod; without itself none.
    selector: spec.selector === undefined ? 'none' : Object.entries(spec.selector).sort(),
    clusterIP: spec.clusterIP,
    ipFamilies: spec.ipFamilies,
    ports: spec.ports,
    publishNotReadyAddresses: spec.publishNotReadyAddresses,
    trafficDistribution: spec.trafficDistribution,
  });
}

/** All Pods that the Service selects, whether they belong in its endpoints or not. */
function selectedPods(view: ClusterView, { metadata, spec }: ServiceObject): readonly PodObject[] {
  const { selector } = spec;
  if (selector === undefined) return [];
  return (view.all('pods') as readonly PodObject[]).filter(
    (pod) =>
      pod.metadata.namespace === metadata.namespace &&
      Object.entries(selector).every(([key, value]) => pod.metadata.labels?.[key] === value),
  );
}

function knownPod(view: ClusterView, { metadata, spec, status }: PodObject): unknown {
  const ready = readyOf(status);
  const node = view.get('nodes', '', spec.nodeName ?? '');
  const pod = {
    namespace: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid,
    ip: status?.podIP,
    ips: status?.podIPs?.map(({ ip }) => ip),
    nodeName: spec.nodeName,
    hostname: spec.hostname,
    subdomain: spec.subdomain,
    terminal: ['Failed', 'Succeeded'].includes(status?.phase ?? ''),
    terminating: metadata.deletionTimestamp !== undefined,
    ready: ready?.status === 'True',
    readyTransitionTime: ready?.lastTransitionTime,
    unready: ready === undefined || ready.status === 'True' ? undefined : { status: ready.status },
    ports: spec.containers.flatMap(({ ports }) => ports ?? []).filter(({ name }) => name !== undefined),
  };
  return normalized({ pod, node: node === undefined ? 'none' : { zone: node.metadata.labels?.[zoneLabel] ?? 'none' } });
}

/** The trigger times of the Service and its Pods (C15). */
function triggerTimes({ metadata }: ServiceObject, pods: readonly PodObject[]): unknown {
  const times = pods.map(({ metadata: { name }, status }) => [name, readyOf(status)?.lastTransitionTime] as const);
  return normalized({ service: metadata.creationTimestamp, pods: Object.fromEntries(times) });
}

const readyOf = (status: PodObject['status']) => status?.conditions?.find(({ type }) => type === 'Ready');

/** What the gauges count of one controller's slices (I1). */
function countedSlices(view: ClusterView, service: ServiceObject, manager: string): object {
  const { namespace = '', name } = service.metadata;
  const own = slicesOf(view, namespace, name).filter(({ metadata }) => metadata.labels?.[managedByLabel] === manager);
  return { endpoints: own.reduce((sum, slice) => sum + (slice.endpoints ?? []).length, 0), slices: own.length };
}

const hintingOf = (service: ServiceObject): object =>
  hasTopology(service)
    ? { topology: 'Auto' }
    : { topology: 'Disabled', trafficDistribution: service.spec.trafficDistribution };

/** Of the state of a controller, what it waits for and, of the one for slices, what it has counted. */
function knownController(stored: Readonly<Record<string, unknown>>): unknown {
  const [timers, retries, repairs, trackers] = ['timers', 'retries', 'repairs', 'trackers'].map((part) =>
    asRecord(stored[part]),
  );
  const { failures, parked } = retries ?? {};
  const { endpoints, slices, hinting } = asRecord(trackers?.counted);
  return normalized({
    dueAt: timers?.dueAt,
    failures: failures || undefined,
    parked,
    repairing: repairs?.repairing,
    counted: { endpoints, slices, hinting },
  });
}

const isController = (field: string): boolean => /^controller\/[a-z]+$/.test(field);

function hasTopology({ metadata: { annotations = {} } }: ServiceObject): boolean {
  const [older, newer] = hintAnnotations.map((name) => annotations[name]);
  const mode = older ?? newer;
  return mode === 'Auto' || mode === 'auto';
}

/** The share of allocatable CPU per zone (F2). */
function knownTopology(view: ClusterView): unknown {
  const cpu = new Map<string, number>();
  const nodesByZone: Record<string, number> = {};
  for (const { metadata, status } of view.all('nodes')) {
    const { labels = {} } = metadata;
    const { conditions, allocatable } = asRecord(status);
    const isReady = (conditions as readonly { readonly type: string; readonly status: string }[] | undefined)?.some(
      (condition) => condition.type === 'Ready' && condition.status === 'True',
    );
    if (isReady !== true || controlPlaneLabels.some((label) => labels[label] !== undefined)) continue;
    const zone = labels[zoneLabel] ?? '';
    nodesByZone[zone] = (nodesByZone[zone] ?? 0) + 1;
    cpu.set(zone, (cpu.get(zone) ?? 0) + Number(asRecord(allocatable).cpu));
  }
  const total = [...cpu.values()].reduce((sum, cores) => sum + cores, 0);
  const hasRatios = cpu.size > 1 && !cpu.has('');
  const zoneRatios = hasRatios && Object.fromEntries([...cpu].map(([zone, cores]) => [zone, cores / total]));
  return normalized({ zoneRatios: zoneRatios || undefined, nodesByZone });
}

/** A written object, without what its writer is not informed of. */
export function knownWritten(object: object): unknown {
  const { metadata, addressType, endpoints, ports, subsets } = object as StoredObject;
  const { name, namespace, uid, resourceVersion, labels, annotations, ownerReferences, generateName } = metadata;
  const { finalizers, deletionTimestamp } = metadata;
  const identity = { name, namespace, uid, resourceVersion, generateName };
  return normalized({
    metadata: { ...identity, labels, annotations, ownerReferences, finalizers, deletionTimestamp },
    ...{ addressType, endpoints, ports, subsets },
  });
}

/** The stored value of a Service, a Pod or the topology, in the same form. Undefined: it does not exist. */
export function storedField(field: string, value: unknown): unknown {
  const stored = asRecord(value);
  if (isController(field)) return knownController(stored);
  if (field.startsWith('controller/')) {
    const { service, pods, since } = stored;
    return normalized({ service, pods: { ...asRecord(pods), ...asRecord(since) } });
  }
  if (field === 'topology') return normalized(value);
  if (field.startsWith('pod/')) {
    const { pod, node } = stored;
    return normalized({ pod, node: node === null ? 'none' : { zone: asRecord(node).zone || 'none' } });
  }
  // A Service that is known to be deleted.
  if (stored.service === null) return undefined;
  const { selector, ...others } = asRecord(stored.service);
  return normalized({ ...others, selector: selector === null ? 'none' : Object.entries(asRecord(selector)).sort() });
}

const asRecord = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

/** Without empty fields, and with fields in a fixed order. */
export function normalized(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normalized);
  if (value === null || typeof value !== 'object') return value;
  const kept = Object.entries(value)
    .map(([key, field]) => [key, normalized(field)] as const)
    .filter(([, field]) => !isEmpty(field))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(kept);
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
