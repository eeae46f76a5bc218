import type { Controller, EndpointSlice, Mutation, MutationGroup } from '@sluice/controllers';
import type { PlanId } from '@sluice/messages';

/** K1: what the API server itself would take for a generated name. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const longestBase = 58;
const suffixLength = 5;

/**
 * Gives every slice to be created its name, in the form of a generated one, derived from the plan. A repeated create
 * thus meets AlreadyExists instead of making a second slice. Controllers number their plans apart from each other, so the
 * name depends on the controller too.
 */
export function withDerivedNames(
  groups: readonly MutationGroup[],
  ownerUid: string,
  controller: Controller,
  plan: PlanId,
): readonly MutationGroup[] {
  return groups.map(({ mutations }, group) => ({
    mutations: mutations.map((mutation, index) =>
      named(mutation, `${ownerUid}/${controller}/${plan.epoch}/${plan.number}/${group}/${index}`),
    ),
  }));
}

function named(mutation: Mutation, seed: string): Mutation {
  if (mutation.verb !== 'create' || mutation.resource !== 'endpointslices') return mutation;
  const { metadata } = mutation.object;
  if (metadata.name !== '' || metadata.generateName === undefined) return mutation;
  const object: EndpointSlice = {
    ...mutation.object,
    metadata: { ...metadata, name: metadata.generateName.slice(0, longestBase) + suffix(seed) },
  };
  return { ...mutation, object };
}

function suffix(seed: string): string {
  let hash = 0x811c9dc5;
  let text = '';
  for (let round = 0; round < suffixLength; round++) {
    for (let i = 0; i < seed.length; i++) hash = Math.imul(hash ^ seed.charCodeAt(i), 0x01000193);
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
    text += alphabet[((hash ^ (hash >>> 13)) >>> 0) % alphabet.length];
  }
  return text;
}
