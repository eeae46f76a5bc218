import {
  type EndpointSlice,
  type EventToRecord,
  emptyPlan,
  type MutationGroup,
  type NodeTopology,
  type Plan,
  type PodOnNode,
  type Service,
} from '@sluice/model';
import { type DecisionPolicy, defaultPolicy } from '../policy.ts';
import type { EndpointSliceCounts } from '../sync-counts.ts';
import { removeHints, type ServiceHints } from '../trackers/topology-cache.ts';
import { computeTriggerTime, type TriggerTimes } from '../trackers/trigger-time-tracker.ts';
import { addressTypesOf } from './address-types.ts';
import { countDecisions } from './count-decisions.ts';
import { deletion } from './finalize.ts';
import { type AddressTypeDecision, reconcileByAddressType } from './reconcile-by-address-type.ts';
import type { HintEvent } from './topology-hints.ts';

export interface EndpointSliceInputs {
  /** Null if the Service does not exist. */
  readonly service: Service | null;
  /** All Pods that the selector matches, eligible or not. */
  readonly pods: Iterable<PodOnNode>;
  /** All slices labelled with the Service's name and this controller, including those being deleted. */
  readonly slices: Iterable<EndpointSlice>;
  readonly triggers: TriggerTimes | null;
  /** Null if the Nodes are unknown. Hints are then withheld for insufficient information (F3). */
  readonly topology: NodeTopology | null;
  readonly hints: ServiceHints | null;
  /** 1–1000 (A5). */
  readonly maxEndpointsPerSlice: number;
  readonly policy?: DecisionPolicy;
}

export interface EndpointSliceDecision {
  /** One group per wanted address type that needs writes, then one per slice of an unsupported type. */
  readonly plan: Plan;
  /** State to store if the plan succeeds. */
  readonly triggers: TriggerTimes | null;
  /** State to store if the plan succeeds. */
  readonly hints: ServiceHints | null;
  /** Null if the controller ignores the Service. */
  readonly counts: EndpointSliceCounts | null;
}

/** Decides what the EndpointSlice controller writes for one Service (sections E, F, G). */
export function reconcileEndpointSlices(inputs: EndpointSliceInputs): EndpointSliceDecision {
  const { service, topology, maxEndpointsPerSlice, policy = defaultPolicy } = inputs;
  if (service === null) return { plan: emptyPlan, triggers: null, hints: null, counts: null };
  if (service.type === 'ExternalName' || service.selector === null) {
    return { plan: emptyPlan, triggers: inputs.triggers, hints: inputs.hints, counts: null };
  }
  const pods = [...inputs.pods];
  const slices = [...inputs.slices].filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const { state: triggers, triggerTime } = computeTriggerTime(inputs.triggers, service, pods);
  const types = addressTypesOf(service);
  const unsupported = slices.filter((slice) => !types.includes(slice.addressType));

  let hints = inputs.hints;
  for (const { addressType } of unsupported) hints = removeHints(hints, addressType);
  const groups: MutationGroup[] = [];
  const events: EventToRecord[] = [];
  const incomplete = new Set<string>();
  const decisions: AddressTypeDecision[] = [];
  for (const type of types) {
    const ofType = slices.filter((slice) => slice.addressType === type);
    const decision = reconcileByAddressType({
      service,
      type,
      pods,
      slices: ofType,
      triggerTime,
      topology,
      hints,
      maxEndpointsPerSlice,
      policy,
    });
    decisions.push(decision);
    hints = decision.hints;
    if (decision.mutations.length > 0) groups.push({ mutations: decision.mutations });
    for (const event of decision.events) events.push(recordOn(service, event));
    for (const reason of decision.skipped) incomplete.add(reason);
  }
  for (const slice of unsupported) groups.push({ mutations: [{ ...deletion(slice), unsupportedAddressType: true }] });
  const counts = countDecisions(service, decisions);
  return { plan: { groups, events, incomplete: [...incomplete] }, triggers, hints, counts };
}

function recordOn(service: Service, event: HintEvent): EventToRecord {
  const { namespace, name, uid } = service;
  return { ...event, regarding: { kind: 'Service', namespace, name, ...(uid !== '' && { uid }) } };
}
