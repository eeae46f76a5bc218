import {
  addressTypesOf,
  type EndpointSlice,
  endpointPorts,
  endpointSliceController,
  managedByLabel,
  podToEndpoint,
  type Service,
} from '@sluice/controllers';
import { faceOf, podOf } from '../history/endpoint-changes.ts';
import type { EndpointFace } from '../history/entry.ts';
import type { HistoryState } from '../history/history-state.ts';
import type { KnownPod } from '../history/pod-news.ts';
import { selectorText } from '../history/service-news.ts';

/** Where a Pod stands in the slices of a Service, and why. */
export interface PodExplanation {
  readonly pod: string;
  readonly verdict: Verdict;
  /** For people, the weightiest first; never empty. */
  readonly reasons: readonly string[];
  readonly ips: readonly string[];
  readonly node: string;
  readonly zone: string;
  readonly placements: readonly Placement[];
}

export type Verdict =
  /** Gets traffic: ready in a slice. */
  | 'ready'
  /** In a slice, but not ready. */
  | 'not ready'
  /** In a slice on its way out: being deleted. */
  | 'terminating'
  /** In no slice, as it should be. */
  | 'left out'
  /** What is written is not what is wanted yet. */
  | 'pending'
  /** Not a Pod that the Service knows. */
  | 'unknown';

/** One endpoint of the Pod. */
export interface Placement extends EndpointFace {
  readonly slice: string;
  readonly addressType: string;
  readonly addresses: readonly string[];
}

/** Says of a Pod in which slices it is, with what conditions and because of what; or why it is in none. */
export function explainPod(state: HistoryState, name: string): PodExplanation {
  const known = state.pods.get(name);
  const placements = placementsOf(state, name);
  const common = {
    pod: name,
    ips: known?.pod.ips ?? [],
    node: known?.pod.nodeName ?? '',
    zone: known?.node?.zone ?? '',
    placements,
  };
  if (known === undefined) return { ...common, verdict: 'unknown', reasons: unknownPod(state, name, placements) };
  const { service } = state;
  if (service === null) return { ...common, verdict: 'left out', reasons: ['there is no such Service'] };
  const keptOut = reasonsAgainst(service, known);
  const wanted = keptOut.length === 0;
  if (wanted !== placements.length > 0 || (wanted && !isAsWanted(service, known, placements))) {
    return { ...common, verdict: 'pending', reasons: [...pendingReasons(state), ...(wanted ? [] : keptOut)] };
  }
  if (!wanted) return { ...common, verdict: 'left out', reasons: keptOut };
  return { ...common, verdict: verdictOf(placements), reasons: reasonsFor(service, known) };
}

/** Why a Pod is in no slice (C2, C3, E15); empty if it should be in one. */
function reasonsAgainst(service: Service, { pod, node }: KnownPod): string[] {
  if (service.type === 'ExternalName') return ['the Service is of type ExternalName, which has no endpoints'];
  if (service.selector === null) return ['the Service has no selector: its endpoints are custom'];
  if (pod.terminal) return ['the Pod has finished: its phase is Succeeded or Failed'];
  if (pod.ips.length === 0 && pod.ip === '') return ['the Pod has no IP yet'];
  if (node === null && !service.publishNotReadyAddresses)
    return [`its Node ${pod.nodeName || '(none)'} is not known, so its zone is not`];
  const types = addressTypesOf(service);
  if (types.every((type) => podToEndpoint(pod, node, service, type).addresses.length === 0))
    return [
      `it has no ${types.join(' or ')} address, which is what the Service asks for (it has ${pod.ips.join(', ')})`,
    ];
  return [];
}

function reasonsFor(service: Service, { pod }: KnownPod): string[] {
  const reasons: string[] = [];
  const since = pod.readyTransitionTime === null ? '' : ` since ${pod.readyTransitionTime}`;
  if (pod.terminating) {
    reasons.push(
      pod.ready
        ? 'it is being deleted, and still serves: proxies use it only if no endpoint is ready'
        : 'it is being deleted, and its condition Ready is not True',
    );
  } else if (pod.ready) reasons.push(`its condition Ready is True${since}`);
  else if (service.publishNotReadyAddresses)
    reasons.push('its condition Ready is not True, but the Service publishes addresses that are not ready');
  else reasons.push(`its condition Ready is not True${since}`);
  const resolved = new Set(endpointPorts(service, pod).map(({ name }) => name));
  for (const port of service.ports) {
    if (resolved.has(port.name)) continue;
    reasons.push(
      `port ${port.name || port.port} is left out: no container port is named ${JSON.stringify(port.targetPort)} with protocol ${port.protocol}`,
    );
  }
  return reasons;
}

function pendingReasons(state: HistoryState): string[] {
  const refused = state.refused.get('endpointslice');
  if (refused) return [`the API server refuses the write: ${refused.message}`];
  const plan = state.planOf('endpointslice');
  if (plan) return [`plan ${plan.plan.epoch}.${plan.plan.number} is on its way to the API server`];
  if (!state.isComplete) return ['the history begins in the middle: not everything is known of this Service yet'];
  return ['it is about to be decided'];
}

function unknownPod({ service, isComplete }: HistoryState, pod: string, placements: readonly Placement[]): string[] {
  if (placements.length > 0) return ['the Pod is gone; its endpoint is about to go'];
  if (!isComplete) return ['the history begins in the middle: the Pod may exist'];
  if (service === null) return ['there is no such Service'];
  return [`there is no Pod ${pod} in the namespace that its labels make this Service's (${selectorText(service)})`];
}

function isAsWanted(service: Service, { pod, node }: KnownPod, placements: readonly Placement[]): boolean {
  return placements.every((placement) => {
    if (placement.addressType !== 'IPv4' && placement.addressType !== 'IPv6') return true;
    const face = faceOf(podToEndpoint(pod, node, service, placement.addressType));
    const { ready, serving, terminating, zone } = placement;
    return face.ready === ready && face.serving === serving && face.terminating === terminating && face.zone === zone;
  });
}

function verdictOf(placements: readonly Placement[]): Verdict {
  if (placements.some(({ ready }) => ready)) return 'ready';
  return placements.some(({ terminating }) => terminating) ? 'terminating' : 'not ready';
}

function placementsOf(state: HistoryState, pod: string): Placement[] {
  const placements: Placement[] = [];
  for (const { slice } of state.slices.values()) {
    if (!isWrittenHere(slice)) continue;
    for (const endpoint of slice.endpoints ?? []) {
      if (podOf(endpoint) !== pod) continue;
      const { addresses } = endpoint;
      placements.push({ slice: slice.metadata.name, addressType: slice.addressType, addresses, ...faceOf(endpoint) });
    }
  }
  return placements;
}

function isWrittenHere({ metadata }: EndpointSlice): boolean {
  return metadata.labels?.[managedByLabel] === endpointSliceController;
}
