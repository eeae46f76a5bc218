import {
  type EndpointAddress,
  type EndpointSubset,
  type Endpoints,
  emptyPlan,
  endpointController,
  endpointsManagedByLabel,
  equalStringMaps,
  headlessLabel,
  isServiceIpSet,
  leaderAnnotation,
  type Mutation,
  overCapacityAnnotation,
  type Plan,
  type PodOnNode,
  type Service,
  type StringMap,
  triggerTimeAnnotation,
  withoutKeys,
} from '@sluice/model';
import { type ControllerDescriptor, type DecisionPolicy, defaultPolicy } from '../controller.ts';
import { endpointsFailure } from '../failure-events.ts';
import { computeTriggerTime, type TriggerTimes } from '../trackers/trigger-time-tracker.ts';
import { cachedDesiredSubsets, equalSubsets, isCanonical } from './desired-subsets.ts';
import { repackSubsets } from './repack-subsets.ts';

export const endpointsController: ControllerDescriptor = {
  name: 'endpoints',
  flags: ['endpoints-controller', 'endpoint'],
  settings: {
    batchPeriod: {
      flag: 'endpoint-updates-batch-period',
      about: 'time to batch Pod changes before updating Endpoints',
    },
    concurrentSyncs: {
      flag: 'concurrent-endpoint-syncs',
      about:
        'maximum concurrent requests of the Endpoints controller per cluster; 0: only `writer.maxInFlight` bounds them',
      max: 1000,
    },
  },
  client: 'endpoint-controller',
  managedBy: endpointController,
  reads: ['services', 'pods'],
  writes: 'endpoints',
  reconcile: ({ endpoints, ...inputs }) => ({
    ...reconcileEndpoints({ ...inputs, existing: endpoints }),
    hints: null,
    counts: null,
  }),
  trackers: {},
  events: {
    component: 'endpoint-controller',
    reasons: ['FailedToCreateEndpoint', 'FailedToUpdateEndpoint'],
    failed: ({ service, failures }) => failures.flatMap((failure) => endpointsFailure(service, failure) ?? []),
  },
  metrics: { queue: 'endpoint' },
};

interface EndpointsInputs {
  /** Null if the Service does not exist. */
  readonly service: Service | null;
  /** All Pods that the selector matches, eligible or not. */
  readonly pods: Iterable<PodOnNode>;
  /** The Endpoints with the Service's name, or null. */
  readonly existing: Endpoints | null;
  /** The Service was deleted, or the sweep at watcher start found the Endpoints without a Service (D4, D5). */
  readonly orphaned: boolean;
  readonly triggers: TriggerTimes | null;
  readonly policy?: DecisionPolicy;
}

interface EndpointsDecision {
  readonly plan: Plan;
  /** State to store if the plan succeeds. Null if the Service does not exist. */
  readonly triggers: TriggerTimes | null;
}

/** Decides what the Endpoints controller writes for one Service (section D). */
export function reconcileEndpoints(inputs: EndpointsInputs): EndpointsDecision {
  const { service, existing, triggers, policy = defaultPolicy } = inputs;
  if (service === null) {
    return { plan: inputs.orphaned && existing !== null ? planOf(deletion(existing)) : emptyPlan, triggers: null };
  }
  if (service.type === 'ExternalName' || service.selector === null) return { plan: emptyPlan, triggers };
  const pods = [...inputs.pods];
  const { state, triggerTime } = computeTriggerTime(triggers, service, pods);
  const desired = cachedDesiredSubsets(service, pods);
  const { subsets, truncated } = truncateSubsets(desired);
  const decision = (plan: Plan): EndpointsDecision => ({ plan, triggers: state });
  if (existing === null) return decision(planOf(creation(service, subsets, truncated, triggerTime)));
  if (isUpToDate(existing, service, subsets)) return decision(emptyPlan);
  const updated = updatedEndpoints(existing, service, subsets, truncated, triggerTime);
  if (policy.isNoOp(existing, updated)) return decision(emptyPlan);
  return decision(planOf({ verb: 'update', resource: 'endpoints', object: updated }));
}

function planOf(mutation: Mutation): Plan {
  return { groups: [{ mutations: [mutation] }], events: [], incomplete: [] };
}

function deletion({ metadata }: Endpoints): Mutation {
  const { name, uid, resourceVersion } = metadata;
  return {
    verb: 'delete',
    resource: 'endpoints',
    name,
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
}

function creation(
  service: Service,
  subsets: readonly EndpointSubset[],
  truncated: boolean,
  time: string | null,
): Mutation {
  const fresh: Endpoints = { metadata: { name: service.name, namespace: service.namespace } };
  return { verb: 'create', resource: 'endpoints', object: updatedEndpoints(fresh, service, subsets, truncated, time) };
}

/** Returns the object to write. Subsets, labels and two annotations are managed; everything else is kept (D22). */
function updatedEndpoints(
  existing: Endpoints,
  service: Service,
  subsets: readonly EndpointSubset[],
  truncated: boolean,
  triggerTime: string | null,
): Endpoints {
  const annotations: Record<string, string> = {
    ...withoutKeys(existing.metadata.annotations, [triggerTimeAnnotation, overCapacityAnnotation]),
    ...(triggerTime !== null && { [triggerTimeAnnotation]: triggerTime }),
    ...(truncated && { [overCapacityAnnotation]: 'truncated' }),
  };
  return { ...existing, metadata: { ...existing.metadata, labels: endpointsLabels(service), annotations }, subsets };
}

function endpointsLabels(service: Service): StringMap {
  return {
    ...withoutKeys(service.labels, [headlessLabel]),
    ...(!isServiceIpSet(service) && { [headlessLabel]: '' }),
    [endpointsManagedByLabel]: endpointController,
  };
}

/** Whether there is nothing to write (D19). As upstream, this ignores all annotations except the over-capacity one. */
function isUpToDate(existing: Endpoints, service: Service, desired: readonly EndpointSubset[]): boolean {
  if (!areLabelsCorrect(existing, service) || !isCapacityAnnotationCorrect(existing)) return false;
  const subsets = existing.subsets ?? [];
  return equalSubsets(subsets, desired) || (!isCanonical(subsets) && equalSubsets(repackSubsets(subsets), desired));
}

/** Never true if the Service itself carries one of the two labels (D20). */
function areLabelsCorrect(existing: Endpoints, service: Service): boolean {
  const labels = existing.metadata.labels ?? {};
  if (labels[endpointsManagedByLabel] !== endpointController) return false;
  return equalStringMaps(withoutKeys(labels, [headlessLabel, endpointsManagedByLabel]), service.labels);
}

/** Never true for a truncated object (D21). */
function isCapacityAnnotationCorrect(existing: Endpoints): boolean {
  if (countAddresses(existing.subsets ?? []) > endpointsCapacity) return false;
  return !Object.hasOwn(existing.metadata.annotations ?? {}, overCapacityAnnotation);
}

/** Maximum number of addresses, ready and not ready, in an Endpoints object (D27). */
export const endpointsCapacity = 1000;

interface TruncatedSubsets {
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

/**
 * Whether the sweep at watcher start deletes these Endpoints: no Service has their name, and leader election does not
 * use them (D4).
 */
export function isLeftover(endpoints: Endpoints | undefined, service: Service | null | undefined): boolean {
  if (endpoints === undefined || service) return false;
  return !Object.hasOwn(endpoints.metadata.annotations ?? {}, leaderAnnotation);
}
