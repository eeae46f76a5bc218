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
import { hasReady } from './has-ready.ts';
import { isDoneJob } from './is-done-job.ts';
import type { ProblemReason } from './problem-reasons.ts';
import type { ServicePast } from './service-pasts.ts';

/** A message for people, by the reason of each problem. */
export type ServiceProblems = { readonly [R in ProblemReason]?: string };

/** What is known of a Service besides its objects. */
interface Known {
  /** Pods whose labels resemble the selector. */
  readonly similar?: SimilarPods | undefined;
  readonly past?: ServicePast | undefined;
}

const none: ServiceProblems = {};

/** The problems that the objects of a Service show. */
export function checkService(state: ServiceState, known: Known = {}): ServiceProblems {
  const service = state.service?.service ?? null;
  const slices = Array.from(state.slices.values(), ({ slice }) => slice);
  if (service === null) return slices.length === 0 ? none : { OrphanedSlices: orphanedText(slices, 'does not exist') };
  if (service.deleting) return none;
  if (service.type === 'ExternalName') return checkFormer(slices, 'is of type ExternalName');
  if (service.selector === null) return checkCustom(state, service, slices);
  return {
    ...checkReady(state, service, known),
    ...checkPorts(state, service),
    ...checkHints(state, service, slices),
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
    ...(!hasReady(state.slices.values()) && { NoReadyEndpoints: 'no EndpointSlice has a ready endpoint' }),
    ...(isStale && { StaleMirror: 'the mirrored EndpointSlices differ from the Endpoints' }),
    ...checkFormer(slices, 'has no selector'),
  };
}

function checkReady({ pods, slices }: ServiceState, service: Service, known: Known): ServiceProblems {
  if (hasReady(slices.values())) return none;
  const found = Array.from(pods.values(), ({ pod }) => pod);
  if (found.length === 0) {
    const text = noPodsText(service, known.similar);
    return hadPods(service, slices.values(), known) ? { ScaledToZero: text } : { NoMatchingPods: text };
  }
  const counts = { ready: 0, 'not ready': 0, terminating: 0, terminated: 0 };
  for (const pod of found) {
    counts[pod.terminal ? 'terminated' : pod.terminating ? 'terminating' : pod.ready ? 'ready' : 'not ready']++;
  }
  const texts = Object.entries(counts).flatMap(([name, count]) => (count === 0 ? [] : [`${count} ${name}`]));
  const text = `${found.length} ${found.length === 1 ? 'Pod' : 'Pods'}: ${texts.join(', ')}`;
  // A Job that is done needs no Pods.
  if (found.every(isDoneJob)) return { ScaledToZero: text };
  return known.past?.hasServed === false ? { NotStarted: text } : { NoReadyEndpoints: text };
}

/** Whether the workload has lost its last Pod because that is how it is now, rather than by an error of the Service or the cluster. */
function hadPods(
  { selector }: Service,
  slices: Iterable<{ readonly slice: EndpointSlice }>,
  { similar, past }: Known,
): boolean {
  if (past?.pods !== undefined) return past.pods === true;
  const isTypo = similar !== undefined && Object.hasOwn(selector ?? {}, similar.label.replace(/=.*/s, ''));
  // A slice that was never written again has had no endpoint.
  return !isTypo && [...slices].some(({ slice: { metadata } }) => (metadata.generation ?? 0) > 1);
}

function noPodsText({ selector }: Service, similar: SimilarPods | undefined): string {
  const wanted = Object.entries(selector ?? {}).map(([key, value]) => `${key}=${value}`);
  const none = `no Pod matches ${wanted.join(',')}`;
  // A reader of this namespace may not be allowed to see the other one.
  if (similar === undefined || similar.namespace !== undefined) return none;
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

function checkHints(state: ServiceState, { annotations }: Service, slices: readonly EndpointSlice[]): ServiceProblems {
  if (!hintsEnabled(annotations) || !hasReady(state.slices.values())) return none;
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
