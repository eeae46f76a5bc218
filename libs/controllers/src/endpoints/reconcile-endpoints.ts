import { equalStringMaps, withoutKeys } from '../comparison/string-maps.ts';
import type { EndpointSubset, Endpoints } from '../objects/endpoints.ts';
import type { StringMap } from '../objects/metadata.ts';
import type { PodOnNode } from '../objects/pod.ts';
import { isServiceIpSet, type Service } from '../objects/service.ts';
import {
  endpointController,
  endpointsManagedByLabel,
  headlessLabel,
  overCapacityAnnotation,
  triggerTimeAnnotation,
} from '../objects/well-known.ts';
import { emptyPlan, type Mutation, type Plan } from '../plan.ts';
import { type DecisionPolicy, soundDecisions } from '../policy.ts';
import { computeTriggerTime, type TriggerTimes } from '../trackers/trigger-time-tracker.ts';
import { equalSubsets } from './equal-subsets.ts';
import { repackSubsets } from './repack-subsets.ts';
import { isCanonical, settledSubsets } from './settled-subsets.ts';
import { countAddresses, endpointsCapacity, truncateSubsets } from './truncate.ts';

export interface EndpointsInputs {
  /** Null: there is no such Service. */
  readonly service: Service | null;
  /** All Pods that the selector matches, eligible or not. */
  readonly pods: Iterable<PodOnNode>;
  /** The Endpoints of the Service's name, if any. */
  readonly existing: Endpoints | null;
  /** The Service was deleted, or the sweep at a start found the Endpoints without one (D4, D5). */
  readonly orphaned: boolean;
  readonly triggers: TriggerTimes | null;
  readonly policy?: DecisionPolicy;
}

export interface EndpointsDecision {
  readonly plan: Plan;
  /** To be kept if the plan succeeds; null if the Service is gone. */
  readonly triggers: TriggerTimes | null;
}

/** What the Endpoints controller wants done for one Service (section D). */
export function reconcileEndpoints(inputs: EndpointsInputs): EndpointsDecision {
  const { service, existing, triggers, policy = soundDecisions } = inputs;
  if (service === null) {
    return { plan: inputs.orphaned && existing !== null ? planOf(deletion(existing)) : emptyPlan, triggers: null };
  }
  if (service.type === 'ExternalName' || service.selector === null) return { plan: emptyPlan, triggers };
  const pods = [...inputs.pods];
  const { state, triggerTime } = computeTriggerTime(triggers, service, pods);
  const desired = settledSubsets(service, pods);
  const { subsets, truncated } = truncateSubsets(desired);
  const decision = (plan: Plan): EndpointsDecision => ({ plan, triggers: state });
  if (existing === null) return decision(planOf(creation(service, subsets, truncated, triggerTime)));
  if (isUpToDate(existing, service, subsets)) return decision(emptyPlan);
  const updated = updatedEndpoints(existing, service, subsets, truncated, triggerTime);
  if (policy.spares(existing, updated)) return decision(emptyPlan);
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

/** The object to write: subsets, labels and two annotations are ours, the rest stays (D22). */
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

/** Nothing to write (D19). The comparison is upstream's: annotations other than the capacity's are not looked at. */
function isUpToDate(existing: Endpoints, service: Service, desired: readonly EndpointSubset[]): boolean {
  if (!areLabelsCorrect(existing, service) || !isCapacityAnnotationCorrect(existing)) return false;
  const subsets = existing.subsets ?? [];
  return equalSubsets(subsets, desired) || (!isCanonical(subsets) && equalSubsets(repackSubsets(subsets), desired));
}

/** A Service that itself carries one of the two labels never compares equal (D20). */
function areLabelsCorrect(existing: Endpoints, service: Service): boolean {
  const labels = existing.metadata.labels ?? {};
  if (labels[endpointsManagedByLabel] !== endpointController) return false;
  return equalStringMaps(withoutKeys(labels, [headlessLabel, endpointsManagedByLabel]), service.labels);
}

/** A truncated object never compares correct (D21). */
function isCapacityAnnotationCorrect(existing: Endpoints): boolean {
  if (countAddresses(existing.subsets ?? []) > endpointsCapacity) return false;
  return !Object.hasOwn(existing.metadata.annotations ?? {}, overCapacityAnnotation);
}
