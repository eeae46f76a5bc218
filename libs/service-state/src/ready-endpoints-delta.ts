import type { Controller, Endpoint, EndpointSlice, Endpoints, Mutation, MutationGroup } from '@sluice/controllers';
import type { ReadyEndpointsDelta, RemovalEvidence } from '@sluice/messages';
import { slicesOf } from './own-slices.ts';
import type { ReadyEndpoints } from './ready-endpoints.ts';
import type { ServiceState } from './service-state.ts';

/** So many of the endpoints that are lost are accounted for. */
const claimed = 3;

/** What a plan does to the number of ready endpoints, and why; undefined: nothing. Notes it among those of the partition. */
export function readyEndpointsDelta(
  view: ServiceState,
  controller: Controller,
  groups: readonly MutationGroup[],
  partition: ReadyEndpoints,
): ReadyEndpointsDelta | undefined {
  const mutations = groups.flatMap((group) => group.mutations);
  const delta = mutations.reduce((sum, mutation) => sum + readyIn(mutation) - readyBefore(view, mutation), 0);
  const before = readyAsWritten(view, controller);
  const total = partition.among(view.key, controller, before);
  partition.set(view.key, controller, before + delta);
  if (delta === 0) return undefined;
  const { failures, parkedSince, released } = view.controller(controller);
  return {
    delta,
    total,
    ...((failures > 0 || parkedSince !== null) && { repeated: true as const }),
    ...(released && { released }),
    ...(delta < 0 && { evidence: claimsOf(view, controller, mutations) }),
  };
}

/** Ready endpoints that this controller keeps for the Service, as far as it is known what is written. */
export function readyAsWritten(view: ServiceState, controller: Controller): number {
  if (controller === 'endpoints') return view.endpoints === null ? 0 : readyAddresses(view.endpoints.endpoints);
  return slicesOf(view, controller).reduce((sum, slice) => sum + readyEndpoints(slice), 0);
}

function readyIn(mutation: Mutation): number {
  if (mutation.verb === 'delete') return 0;
  return mutation.resource === 'endpoints' ? readyAddresses(mutation.object) : readyEndpoints(mutation.object);
}

function readyBefore(view: ServiceState, mutation: Mutation): number {
  if (mutation.verb === 'create') return 0;
  if (mutation.resource === 'endpoints') return view.endpoints === null ? 0 : readyAddresses(view.endpoints.endpoints);
  const slice = sliceBefore(view, mutation);
  return slice === undefined ? 0 : readyEndpoints(slice);
}

function sliceBefore(view: ServiceState, mutation: Mutation): EndpointSlice | undefined {
  return view.slices.get(mutation.verb === 'delete' ? mutation.name : mutation.object.metadata.name)?.slice;
}

/** Of most slices nothing changes from one plan to the next. */
const counted = new WeakMap<readonly Endpoint[], number>();

function readyEndpoints({ endpoints }: EndpointSlice): number {
  const list = endpoints ?? [];
  let ready = counted.get(list);
  if (ready === undefined) {
    ready = list.reduce((sum, { conditions }) => sum + (conditions?.ready === false ? 0 : 1), 0);
    counted.set(list, ready);
  }
  return ready;
}

const readyAddresses = ({ subsets }: Endpoints): number =>
  (subsets ?? []).reduce((sum, { addresses }) => sum + (addresses?.length ?? 0), 0);

function claimsOf(
  view: ServiceState,
  controller: Controller,
  mutations: readonly Mutation[],
): readonly RemovalEvidence[] {
  if (!view.service?.service) return [{ kind: 'service' }];
  if (controller === 'endpointslicemirroring') return view.endpoints === null ? [{ kind: 'endpoints' }] : [];
  const claims: RemovalEvidence[] = [];
  for (const { name = '', uid = '' } of readyPodsBefore(view, controller, mutations)) {
    const claim = claimOn(view, name, uid);
    if (claim !== undefined && claims.push(claim) === claimed) break;
  }
  return claims;
}

/** What is known of the Pod that an endpoint is for; undefined: nothing that would take the endpoint away. */
function claimOn(view: ServiceState, name: string, uid: string): RemovalEvidence | undefined {
  const entry = view.pods.get(name);
  if (entry === undefined || entry.pod.uid !== uid) return { kind: 'pod', name, uid };
  const { pod, node } = entry;
  if (!pod.ready || pod.terminating || pod.terminal) return { kind: 'readiness', name, uid };
  return node === null && pod.nodeName !== '' ? { kind: 'node', name: pod.nodeName } : undefined;
}

/** The Pods of the endpoints that were ready in what is written now. */
function* readyPodsBefore(view: ServiceState, controller: Controller, mutations: readonly Mutation[]) {
  if (controller === 'endpoints') {
    for (const { addresses } of view.endpoints?.endpoints.subsets ?? [])
      for (const { targetRef } of addresses ?? []) if (targetRef?.kind === 'Pod') yield targetRef;
    return;
  }
  for (const mutation of mutations)
    for (const { conditions, targetRef } of sliceBefore(view, mutation)?.endpoints ?? [])
      if (conditions?.ready !== false && targetRef?.kind === 'Pod') yield targetRef;
}
