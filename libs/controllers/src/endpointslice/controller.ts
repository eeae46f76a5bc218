import {
  type AddressType,
  type EndpointSlice,
  type EventToRecord,
  emptyPlan,
  endpointSliceController,
  isIpv6,
  isServiceIpSet,
  type MutationGroup,
  type NodeTopology,
  type Plan,
  type PodOnNode,
  type Service,
} from '@sluice/model';
import { type ControllerDescriptor, type DecisionPolicy, defaultPolicy } from '../controller.ts';
import type { EndpointSliceCounts, Hinting } from '../controller-metrics.ts';
import { endpointSliceFailure } from '../failure-events.ts';
import { removeHints, type ServiceHints } from '../trackers/topology-cache.ts';
import { computeTriggerTime, type TriggerTimes } from '../trackers/trigger-time-tracker.ts';
import { endpointSliceMetricRows, endpointSliceMetrics } from './metrics.ts';
import { type AddressTypeDecision, reconcileByAddressType } from './reconcile-by-address-type.ts';
import { deletion } from './slice.ts';
import { type HintEvent, hintsEnabled, isValidTrafficDistribution } from './slice-hints.ts';

export const endpointSlicesController: ControllerDescriptor = {
  name: 'endpointslice',
  flags: ['endpointslice-controller', 'endpointslice'],
  settings: {
    batchPeriod: {
      flag: 'endpointslice-updates-batch-period',
      about: 'time to batch Pod changes before updating EndpointSlices',
    },
    concurrentSyncs: {
      flag: 'concurrent-service-endpoint-syncs',
      about: 'the same for the EndpointSlice controller',
      max: 50,
    },
  },
  client: 'endpointslice-controller',
  managedBy: endpointSliceController,
  reads: ['services', 'pods', 'nodes'],
  writes: 'endpointslices',
  owner: 'services',
  reconcile: reconcileEndpointSlices,
  trackers: {},
  compacts: true,
  events: {
    component: 'endpoint-slice-controller',
    reasons: ['FailedToUpdateEndpointSlices', 'TopologyAwareHintsEnabled', 'TopologyAwareHintsDisabled'],
    failed({ service, failures, incomplete }) {
      const event = endpointSliceFailure(service, failures, incomplete);
      return event === null ? [] : [event];
    },
  },
  metrics: {
    queue: 'endpoint_slice',
    own: { subsystem: 'endpoint_slice_controller', rows: endpointSliceMetricRows, open: endpointSliceMetrics },
  },
};

interface EndpointSliceInputs {
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

interface EndpointSliceDecision {
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

/**
 * Returns what the decisions for all address types of a Service contribute to the metrics. Unlike upstream, every type
 * counts (I1).
 */
function countDecisions(service: Service, decisions: readonly AddressTypeDecision[]): EndpointSliceCounts {
  let [endpoints, slices, desiredSlices] = [0, 0, 0];
  for (const { totals } of decisions) {
    endpoints += totals.endpoints;
    slices += totals.slices;
    desiredSlices += totals.desiredSlices;
  }
  return {
    service: { endpoints, slices, desiredSlices, hinting: hintingOf(service) },
    addressTypes: decisions.map(({ counts }) => counts),
  };
}

function hintingOf({ annotations, trafficDistribution }: Service): Hinting {
  if (hintsEnabled(annotations)) return { topology: 'Auto', trafficDistribution: '' };
  const valid = isValidTrafficDistribution(trafficDistribution);
  return { topology: 'Disabled', trafficDistribution: valid ? trafficDistribution : '' };
}

/** Returns the address types that a Service needs slices for, in the order of its IP families (E12). */
export function addressTypesOf(service: Service): readonly AddressType[] {
  const families = new Set<AddressType>();
  for (const family of service.ipFamilies) if (family === 'IPv4' || family === 'IPv6') families.add(family);
  if (families.size > 0) return [...families];
  if (isServiceIpSet(service)) return [isIpv6(service.clusterIP) ? 'IPv6' : 'IPv4'];
  return ['IPv4', 'IPv6'];
}
