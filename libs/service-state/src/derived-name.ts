import type { Controller, EndpointSlice, Mutation, MutationGroup } from '@sluice/controllers';
import type { PlanId } from '@sluice/messages';

/** K1: the alphabet and lengths of names that the API server generates. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const maxBaseLength = 58;
const suffixLength = 5;

/**
 * Names every slice to be created, in the form of a generated name but derived from the plan, so that a repeated create
 * meets AlreadyExists instead of making a second slice. The controller is part of the seed because policies may number the
 * plans of each controller separately.
 */
export function withDerivedNames(
  groups: readonly MutationGroup[],
  ownerUid: string,
  controller: Controller,
  plan: PlanId,
): readonly MutationGroup[] {
  return groups.map(({ mutations }, group) => ({
    mutations: mutations.map((mutation, index) =>
      withName(mutation, `${ownerUid}/${controller}/${plan.epoch}/${plan.number}/${group}/${index}`),
    ),
  }));
}

function withName(mutation: Mutation, seed: string): Mutation {
  if (mutation.verb !== 'create' || mutation.resource !== 'endpointslices') return mutation;
  const { metadata } = mutation.object;
  if (metadata.name !== '' || metadata.generateName === undefined) return mutation;
  const object: EndpointSlice = {
    ...mutation.object,
    metadata: { ...metadata, name: metadata.generateName.slice(0, maxBaseLength) + suffixOf(seed) },
  };
  return { ...mutation, object };
}

function suffixOf(seed: string): string {
  let hash = 0x811c9dc5;
  let text = '';
  for (let round = 0; round < suffixLength; round++) {
    for (let i = 0; i < seed.length; i++) hash = Math.imul(hash ^ seed.charCodeAt(i), 0x01000193);
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
    text += alphabet[((hash ^ (hash >>> 13)) >>> 0) % alphabet.length];
  }
  return text;
}
