import {
  type EndpointSubset,
  type Endpoints,
  emptyPlan,
  endpointController,
  endpointsManagedByLabel,
  equalStringMaps,
  headlessLabel,
  isServiceIpSet,
  type Mutation,
  overCapacityAnnotation,
  type Plan,
  type PodOnNode,
  type Service,
  type StringMap,
  triggerTimeAnnotation,
  withoutKeys,
} from '@sluice/model';
import { type DecisionPolicy, defaultPolicy } from '../policy.ts';
import { computeTriggerTime, type TriggerTimes } from '../trackers/trigger-time-tracker.ts';
import { cachedDesiredSubsets, isCanonical } from './cached-subsets.ts';
import { equalSubsets } from './equal-subsets.ts';
import { repackSubsets } from './repack-subsets.ts';
import { countAddresses, endpointsCapacity, truncateSubsets } from './truncate.ts';

export interface EndpointsInputs {
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

export interface EndpointsDecision {
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
