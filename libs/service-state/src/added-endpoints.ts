import { endpointsWriter, reads } from '@sluice/controllers';
import type { AdditionEvidence, ReadyEndpointsDelta } from '@sluice/messages';
import type { Controller, Endpoint, EndpointAddress, Endpoints, Mutation } from '@sluice/model';
import { slicesOf } from './own-slices.ts';
import type { ServiceState } from './service-state.ts';

/** How many added addresses come with evidence. */
const maxEvidence = 3;

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
  const step = Math.ceil(added.length / maxEvidence);
  return added
    .filter((_, i) => i % step === 0)
    .map((one) => {
      const [address, pod] = [addressOf(one), one.targetRef];
      if (!reads(controller, 'pods')) return { kind: 'endpoints', address };
      return { kind: 'pod', name: pod?.name ?? '', uid: pod?.uid ?? '', address };
    });
}
