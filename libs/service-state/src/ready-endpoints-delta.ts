import { endpointsWriter, reads } from '@sluice/controllers';
import type { AdditionEvidence, ReadyEndpointsDelta, RemovalEvidence } from '@sluice/messages';
import type {
  Controller,
  Endpoint,
  EndpointAddress,
  EndpointSlice,
  Endpoints,
  Mutation,
  MutationGroup,
} from '@sluice/model';
import type { Retries } from './controller-state.ts';
import { slicesOf } from './reconcile.ts';
import type { ServiceState } from './service-state.ts';

/** How many lost endpoints come with evidence. */
const maxEvidence = 3;

/**
 * How a plan changes the ready endpoints, with evidence; undefined: it neither changes their number nor adds addresses.
 * `elsewhere`: ready endpoints of the cluster's other Services.
 */
export function readyEndpointsDelta(
  state: ServiceState,
  controller: Controller,
  groups: readonly MutationGroup[],
  elsewhere: number,
): ReadyEndpointsDelta | undefined {
  const mutations = groups.flatMap((group) => group.mutations);
  const delta = mutations.reduce((sum, mutation) => sum + readyAfter(mutation) - readyBefore(state, mutation), 0);
  const added = addedEndpoints(state, controller, mutations);
  if (delta === 0 && added === undefined) return undefined;
  const { requests, retries } = state.controller(controller);
  return {
    delta,
    total: elsewhere + readyAsWritten(state, controller),
    ...(isHeldBack(retries) && { repeated: true as const }),
    ...(requests.released && { released: true as const }),
    ...(delta < 0 && { evidence: evidenceOf(state, controller, mutations) }),
    ...(added && { added }),
  };
}

/** A plan that the API server refused or that met a conflict had passed the guards, and the next one may be another change. */
const isHeldBack = ({ heldBack, failures, parkedSince }: Retries): boolean =>
  heldBack ?? (failures > 0 || parkedSince !== null);

/** Ready endpoints of the Service in the objects that this controller wrote, as far as they are known. */
export function readyAsWritten(state: ServiceState, controller: Controller): number {
  if (controller === endpointsWriter) return state.endpoints === null ? 0 : readyAddresses(state.endpoints.endpoints);
  return slicesOf(state, controller).reduce((sum, slice) => sum + readyEndpoints(slice), 0);
}

function readyAfter(mutation: Mutation): number {
  if (mutation.verb === 'delete') return 0;
  return mutation.resource === 'endpoints' ? readyAddresses(mutation.object) : readyEndpoints(mutation.object);
}

function readyBefore(state: ServiceState, mutation: Mutation): number {
  if (mutation.verb === 'create') return 0;
  if (mutation.resource === 'endpoints') return readyAsWritten(state, endpointsWriter);
  const slice = sliceBefore(state, mutation);
  return slice === undefined ? 0 : readyEndpoints(slice);
}

function sliceBefore(state: ServiceState, mutation: Mutation): EndpointSlice | undefined {
  return state.slices.get(mutation.verb === 'delete' ? mutation.name : mutation.object.metadata.name)?.slice;
}

/** A cache: from one plan to the next, most slices do not change. */
const readyByList = new WeakMap<readonly Endpoint[], number>();

function readyEndpoints({ endpoints }: EndpointSlice): number {
  const list = endpoints ?? [];
  let ready = readyByList.get(list);
  if (ready === undefined) {
    ready = list.reduce((sum, { conditions }) => sum + (conditions?.ready === false ? 0 : 1), 0);
    readyByList.set(list, ready);
  }
  return ready;
}

const readyAddresses = ({ subsets }: Endpoints): number =>
  (subsets ?? []).reduce((sum, { addresses }) => sum + (addresses?.length ?? 0), 0);

function evidenceOf(
  state: ServiceState,
  controller: Controller,
  mutations: readonly Mutation[],
): readonly RemovalEvidence[] {
  if (!state.service?.service) return [{ kind: 'service' }];
  if (!reads(controller, 'pods')) return state.endpoints === null ? [{ kind: 'endpoints' }] : [];
  const evidence: RemovalEvidence[] = [];
  for (const { name = '', uid = '' } of readyPodsBefore(state, controller, mutations)) {
    const found = evidenceOfPod(state, controller, name, uid);
    if (found !== undefined && evidence.push(found) === maxEvidence) break;
  }
  return evidence;
}

/** Why the endpoint of this Pod is removed; undefined: nothing known removes it. */
function evidenceOfPod(
  state: ServiceState,
  controller: Controller,
  name: string,
  uid: string,
): RemovalEvidence | undefined {
  const entry = state.pods.get(name);
  if (entry === undefined || entry.pod.uid !== uid) return { kind: 'pod', name, uid };
  const { pod, node } = entry;
  if (!pod.ready || pod.terminating || pod.terminal) return { kind: 'readiness', name, uid };
  return reads(controller, 'nodes') && node === null && pod.nodeName !== ''
    ? { kind: 'node', name: pod.nodeName }
    : undefined;
}

/** The Pods of the endpoints that are ready as written now. */
function* readyPodsBefore(state: ServiceState, controller: Controller, mutations: readonly Mutation[]) {
  if (controller === endpointsWriter) {
    for (const { addresses } of state.endpoints?.endpoints.subsets ?? [])
      for (const { targetRef } of addresses ?? []) if (targetRef?.kind === 'Pod') yield targetRef;
    return;
  }
  for (const mutation of mutations)
    for (const { conditions, targetRef } of sliceBefore(state, mutation)?.endpoints ?? [])
      if (conditions?.ready !== false && targetRef?.kind === 'Pod') yield targetRef;
}

/** How many added addresses come with evidence. */
const maxAdditionEvidence = 3;

type Address = Endpoint | EndpointAddress;
type Addresses = readonly Address[];

const addressOf = (one: Address): string => ('ip' in one ? one.ip : (one.addresses[0] ?? ''));

/**
 * The endpoints of a plan whose addresses are in no object that the controller wrote for the Service; undefined: none. An
 * endpoint that becomes ready adds none.
 */
export function addedEndpoints(
  state: ServiceState,
  controller: Controller,
  mutations: readonly Mutation[],
): ReadyEndpointsDelta['added'] {
  const candidates = new Map<string, Address>();
  for (const mutation of mutations) {
    if (mutation.verb === 'delete') continue;
    for (const [before, after] of lists(state, mutation))
      for (const added of changedPart(before, after)) candidates.set(addressOf(added), added);
  }
  if (candidates.size === 0) return undefined;
  for (const list of listsBefore(state, controller)) for (const one of list) candidates.delete(addressOf(one));
  return candidates.size === 0
    ? undefined
    : { count: candidates.size, evidence: sample(controller, [...candidates.values()]) };
}

/** Pairs of an address list before and after the mutation. */
function lists(state: ServiceState, mutation: Exclude<Mutation, { verb: 'delete' }>): [Addresses, Addresses][] {
  if (mutation.resource === 'endpointslices') {
    const before = mutation.verb === 'update' ? state.slices.get(mutation.object.metadata.name)?.slice : undefined;
    return [[before?.endpoints ?? [], mutation.object.endpoints ?? []]];
  }
  const before = inEndpoints(state.endpoints?.endpoints);
  return inEndpoints(mutation.object).map((after, i) => [before[i] ?? [], after]);
}

function listsBefore(state: ServiceState, controller: Controller): Addresses[] {
  if (controller === endpointsWriter) return inEndpoints(state.endpoints?.endpoints);
  return slicesOf(state, controller).map(({ endpoints }) => endpoints ?? []);
}

/** For each subset, the ready and the other addresses. */
const inEndpoints = (endpoints: Endpoints | undefined): Addresses[] =>
  (endpoints?.subsets ?? []).flatMap(({ addresses, notReadyAddresses }) => [addresses ?? [], notReadyAddresses ?? []]);

/** What is left of `after` without the beginning and the end that it shares with `before`. Most plans change little. */
function changedPart(before: Addresses, after: Addresses): Addresses {
  const isSame = (a: Address | undefined, b: Address | undefined) =>
    a === b || (a !== undefined && b !== undefined && addressOf(a) === addressOf(b));
  const common = Math.min(before.length, after.length);
  let start = 0;
  while (start < common && isSame(before[start], after[start])) start += 1;
  let rest = common - start;
  let end = 0;
  while (rest > 0 && isSame(before[before.length - 1 - end], after[after.length - 1 - end])) {
    end += 1;
    rest -= 1;
  }
  return after.slice(start, after.length - end);
}

/** Evidence for a few, evenly spread. */
function sample(controller: Controller, added: Addresses): readonly AdditionEvidence[] {
  const step = Math.ceil(added.length / maxAdditionEvidence);
  return added
    .filter((_, i) => i % step === 0)
    .map((one) => {
      const [address, pod] = [addressOf(one), one.targetRef];
      if (!reads(controller, 'pods')) return { kind: 'endpoints', address };
      return { kind: 'pod', name: pod?.name ?? '', uid: pod?.uid ?? '', address };
    });
}
