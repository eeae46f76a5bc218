import {
  addressTypesOf,
  podOf,
  podToEndpoint,
  readersOf,
  sliceControllers,
  unresolvedPorts,
} from '@sluice/controllers';
import { endpointSliceController, managedByLabel, type Service } from '@sluice/model';
import { holders } from '../../page/spent-text.ts';
import { selectorText } from '../history/describe-change.ts';
import { becauseOf, type KnownPod } from '../history/describe-pod-change.ts';
import { endpointState } from '../history/endpoint-changes.ts';
import { holdAt } from '../history/held-by.ts';
import type { HistoryState } from '../history/history-state.ts';
import type { PodView } from '../view/schemas.ts';
import type { PodHistory } from './pod-histories.ts';

type PodExplanation = Omit<PodView, keyof PodHistory>;
type Placements = PodView['placements'];

/** Explains in which slices a Pod is at that time, with which conditions, and why; or why it is in none. */
export function explainPod(state: HistoryState, name: string, at: number): PodExplanation {
  const known = state.pods.get(name);
  const placements = placementsOf(state, name);
  const common = {
    pod: name,
    ips: known?.pod.ips ?? [],
    node: known?.pod.nodeName ?? '',
    zone: (state.hasNodes ? known?.node : placements.find(({ zone }) => zone !== ''))?.zone ?? '',
    placements,
  };
  if (known === undefined) return { ...common, verdict: 'unknown', reasons: unknownReasons(state, name, placements) };
  const { service } = state;
  if (service === null) return { ...common, verdict: 'excluded', reasons: ['the Service does not exist'] };
  const exclusions = exclusionReasons(service, known);
  const isWanted = exclusions.length === 0;
  if (isWanted !== placements.length > 0 || (isWanted && !isUpToDate(state, service, known, placements)))
    return { ...common, verdict: 'pending', reasons: [...pendingReasons(state, at), ...exclusions] };
  if (!isWanted) return { ...common, verdict: 'excluded', reasons: exclusions };
  return { ...common, verdict: verdictOf(placements), reasons: conditionReasons(service, known) };
}

/** Why a Pod belongs in no slice (C2, C3, E15); empty if it belongs in one. */
function exclusionReasons(service: Service, known: KnownPod): string[] {
  const { pod, node } = known;
  if (service.type === 'ExternalName') return ['the Service is of type ExternalName, which has no endpoints'];
  if (service.selector === null) return ['the Service has no selector; its endpoints are custom'];
  if (pod.terminal) return ['the Pod has terminated: its phase is Succeeded or Failed'];
  if (pod.ips.length === 0) return [`the Pod has no IP yet${becauseOf(known)}`];
  if (node === null && !service.publishNotReadyAddresses)
    return [
      pod.nodeName === ''
        ? 'the Pod is not scheduled, so its zone is unknown'
        : `Node ${pod.nodeName} of the Pod does not exist, so its zone is unknown`,
    ];
  const types = addressTypesOf(service);
  if (types.some((type) => podToEndpoint(pod, node, service, type).addresses.length > 0)) return [];
  return [`the Pod has no ${types.join(' or ')} address, which the Service requires (it has ${pod.ips.join(', ')})`];
}

function conditionReasons(service: Service, known: KnownPod): string[] {
  return [
    readinessReason(service, known),
    ...unresolvedPorts(service, [known.pod]).map(
      ({ name, port, targetPort, protocol }) =>
        `port ${name || port} is omitted: no container port is named ${JSON.stringify(targetPort)} with protocol ${protocol}`,
    ),
  ];
}

function readinessReason(service: Service, known: KnownPod): string {
  const { pod } = known;
  const since = pod.readyTransitionTime === null ? '' : ` since ${pod.readyTransitionTime}`;
  if (pod.terminating) {
    return pod.ready
      ? 'the Pod is being deleted but still serves; proxies use it only if no endpoint is ready'
      : 'the Pod is being deleted and its condition Ready is not True';
  }
  if (pod.ready) return `its condition Ready is True${since}`;
  if (service.publishNotReadyAddresses) return `${unreadyText(known)}, but the Service publishes not-ready addresses`;
  return unreadyText(known);
}

function unreadyText(known: KnownPod): string {
  const { unready, readyTransitionTime } = known.pod;
  if (unready === undefined && readyTransitionTime === null) return `it has no condition Ready yet${becauseOf(known)}`;
  const since = readyTransitionTime === null ? '' : ` since ${readyTransitionTime}`;
  return `its condition Ready is ${unready?.status || 'not True'}${since}${becauseOf(known)}`;
}

function pendingReasons(state: HistoryState, at: number): string[] {
  const writers = readersOf('pods').filter((controller) => sliceControllers.includes(controller));
  const refused = writers.map((controller) => state.refused.get(controller)).find(Boolean);
  if (refused) return [`the API server refuses the write: ${refused.message}`];
  const plan = writers.map((controller) => state.planOf(controller)).find(Boolean);
  if (plan) return [`plan ${plan.plan.epoch}.${plan.plan.number} is in flight to the API server`];
  if (!state.isComplete) return ['the history of this Service is incomplete until the next snapshot'];
  const hold = writers.map((controller) => holdAt(state.state.controller(controller), at)).find(Boolean);
  if (hold) return [`the write is held by ${holders[hold.where]} until ${new Date(hold.until).toISOString()}`];
  return ['no controller has written it yet'];
}

function unknownReasons({ service, isComplete }: HistoryState, pod: string, placements: Placements): string[] {
  if (placements.length > 0) return ['the Pod is deleted; its endpoint is about to be removed'];
  if (!isComplete) return ['the history of this Service is incomplete until the next snapshot; the Pod may exist'];
  if (service === null) return ['the Service does not exist'];
  return [`no Pod ${pod} in the namespace matches this Service (${selectorText(service)})`];
}

function isUpToDate(
  { hasNodes }: HistoryState,
  service: Service,
  { pod, node }: KnownPod,
  placements: Placements,
): boolean {
  return placements.every((placement) => {
    if (placement.addressType !== 'IPv4' && placement.addressType !== 'IPv6') return true;
    const wanted = endpointState(podToEndpoint(pod, node, service, placement.addressType));
    const { ready, serving, terminating, zone } = placement;
    const isInZone = !hasNodes || wanted.zone === zone;
    return wanted.ready === ready && wanted.serving === serving && wanted.terminating === terminating && isInZone;
  });
}

function verdictOf(placements: Placements): PodView['verdict'] {
  if (placements.some(({ ready }) => ready)) return 'ready';
  return placements.some(({ terminating }) => terminating) ? 'terminating' : 'not ready';
}

function placementsOf(state: HistoryState, pod: string): Placements {
  return [...state.slices.values()].flatMap(({ slice: { metadata, addressType, endpoints } }) => {
    if (metadata.labels?.[managedByLabel] !== endpointSliceController) return [];
    return (endpoints ?? [])
      .filter((endpoint) => podOf(endpoint) === pod)
      .map((endpoint) => ({
        slice: metadata.name,
        addressType,
        addresses: endpoint.addresses,
        ...endpointState(endpoint),
      }));
  });
}
