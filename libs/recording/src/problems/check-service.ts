import { hintsEnabled, isMirrorable, podOf, reconcileMirroring, unresolvedPorts } from '@sluice/controllers';
import type { SimilarPods } from '@sluice/messages';
import {
  type EndpointSlice,
  endpointSliceController,
  endpointSliceMirroringController,
  managedByLabel,
  type Service,
} from '@sluice/model';
import type { ServiceState } from '@sluice/service-state';
import type { ProblemReason } from './problem-reasons.ts';

/** A message for people, by the reason of each problem. */
export type ServiceProblems = { readonly [R in ProblemReason]?: string };

const none: ServiceProblems = {};

/** The problems that the objects of a Service show. `similar`: Pods whose labels resemble the selector. */
export function checkService(state: ServiceState, similar?: SimilarPods): ServiceProblems {
  const service = state.service?.service ?? null;
  const slices = Array.from(state.slices.values(), ({ slice }) => slice);
  if (service === null) return slices.length === 0 ? none : { OrphanedSlices: orphanedText(slices, 'does not exist') };
  if (service.deleting) return none;
  if (service.type === 'ExternalName') return checkFormer(slices, 'is of type ExternalName');
  if (service.selector === null) return checkCustom(state, service, slices);
  return {
    ...checkReady(state, service, slices, similar),
    ...checkPorts(state, service),
    ...checkHints(service, slices),
    ...checkLayout(slices),
  };
}

/** The controllers leave slices behind when the selector of a Service is removed (D6, E9). */
function checkFormer(slices: readonly EndpointSlice[], why: string): ServiceProblems {
  const former = slices.filter((slice) => isManagedBy(slice, endpointSliceController));
  return former.length === 0 ? none : { OrphanedSlices: orphanedText(former, why) };
}

function orphanedText(slices: readonly EndpointSlice[], why: string): string {
  const [first, ...others] = slices.map(({ metadata }) => metadata.name).sort();
  const names = others.length === 0 ? `EndpointSlice ${first} remains` : `${slices.length} EndpointSlices remain`;
  return `${names}, although the Service ${why}`;
}

function checkCustom(state: ServiceState, service: Service, slices: readonly EndpointSlice[]): ServiceProblems {
  const endpoints = state.endpoints?.endpoints ?? null;
  const mirrored = slices.filter((slice) => isManagedBy(slice, endpointSliceMirroringController));
  const isMirrored = mirrored.length > 0 || (endpoints !== null && isMirrorable(endpoints));
  const isStale =
    isMirrored &&
    reconcileMirroring({ service, endpoints, slices: mirrored, maxEndpointsPerSubset: 1_000 }).plan.groups.length > 0;
  return {
    ...(!hasReady(slices) && { NoReadyEndpoints: 'no EndpointSlice has a ready endpoint' }),
    ...(isStale && { StaleMirror: 'the mirrored EndpointSlices differ from the Endpoints' }),
    ...checkFormer(slices, 'has no selector'),
  };
}

function checkReady(
  { pods }: ServiceState,
  service: Service,
  slices: readonly EndpointSlice[],
  similar: SimilarPods | undefined,
): ServiceProblems {
  if (hasReady(slices)) return none;
  if (pods.size === 0) return { NoMatchingPods: noPodsText(service, similar) };
  const counts = { ready: 0, 'not ready': 0, terminating: 0, terminated: 0 };
  for (const { pod } of pods.values()) {
    counts[pod.terminal ? 'terminated' : pod.terminating ? 'terminating' : pod.ready ? 'ready' : 'not ready']++;
  }
  const texts = Object.entries(counts).flatMap(([name, count]) => (count === 0 ? [] : [`${count} ${name}`]));
  const total = `${pods.size} ${pods.size === 1 ? 'Pod' : 'Pods'}`;
  return { NoReadyEndpoints: `${total}: ${texts.join(', ')}` };
}

function noPodsText({ selector }: Service, similar: SimilarPods | undefined): string {
  const wanted = Object.entries(selector ?? {}).map(([key, value]) => `${key}=${value}`);
  const none = `no Pod matches ${wanted.join(',')}`;
  if (similar === undefined) return none;
  return `${none}; ${similar.pods === 1 ? '1 Pod has' : `${similar.pods} Pods have`} ${similar.label}`;
}

function checkPorts({ pods }: ServiceState, service: Service): ServiceProblems {
  if (service.ports.every(({ targetPort }) => typeof targetPort === 'number')) return none;
  const running = [...pods.values()].flatMap(({ pod }) => (pod.terminal ? [] : [pod]));
  const ports = running.length === 0 ? [] : unresolvedPorts(service, running);
  if (ports.length === 0) return none;
  const texts = ports.map(({ name, port, targetPort }) => `port ${name || port} (${targetPort})`);
  return { UnresolvedPort: `no Pod has the container port of ${texts.join(', ')}` };
}

function checkHints({ annotations }: Service, slices: readonly EndpointSlice[]): ServiceProblems {
  if (!hintsEnabled(annotations) || !hasReady(slices)) return none;
  const hasHints = slices.some(({ endpoints }) => endpoints?.some(({ hints }) => hints?.forZones?.length));
  return hasHints ? none : { NoTopologyHints: 'the Service asks for topology hints, and no endpoint has any' };
}

/** Endpoints of a slice that a kube-controller-manager with default flags fills. */
const defaultCapacity = 100;

function checkLayout(slices: readonly EndpointSlice[]): ServiceProblems {
  if (slices.length < 2) return none;
  const own = slices.filter((slice) => isManagedBy(slice, endpointSliceController));
  const groups = [...Map.groupBy(own, ({ addressType, ports }) => `${addressType} ${JSON.stringify(ports)}`).values()];
  const duplicate = groups.map(duplicatePod).find((pod) => pod !== undefined);
  const fragmented = groups.find(isFragmented);
  return {
    ...(duplicate !== undefined && { DuplicateEndpoints: `Pod ${duplicate} is in several EndpointSlices` }),
    ...(fragmented && {
      FragmentedSlices: `${fragmented.length} EndpointSlices for ${count(fragmented)} endpoints`,
    }),
  };
}

function duplicatePod(slices: readonly EndpointSlice[]): string | undefined {
  if (slices.length < 2) return undefined;
  const seen = new Map<string, EndpointSlice>();
  for (const slice of slices) {
    for (const endpoint of slice.endpoints ?? []) {
      const pod = podOf(endpoint);
      if (pod !== '' && (seen.get(pod) ?? slice) !== slice) return pod;
      seen.set(pod, slice);
    }
  }
  return undefined;
}

/** More than twice as many slices as needed, as after many Pods came and went. */
const isFragmented = (slices: readonly EndpointSlice[]): boolean =>
  slices.length > 2 * Math.max(1, Math.ceil(count(slices) / defaultCapacity));

const count = (slices: readonly EndpointSlice[]): number =>
  slices.reduce((sum, { endpoints }) => sum + (endpoints?.length ?? 0), 0);

const isManagedBy = ({ metadata }: EndpointSlice, controller: string): boolean =>
  metadata.labels?.[managedByLabel] === controller;

/** An unknown state counts as ready, as for kube-proxy. */
const hasReady = (slices: readonly EndpointSlice[]): boolean =>
  slices.some(({ endpoints }) => endpoints?.some(({ conditions }) => conditions?.ready !== false));
