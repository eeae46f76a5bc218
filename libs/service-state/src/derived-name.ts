import type { PlanId } from '@sluice/messages';
import type { Controller, EndpointSlice, Mutation, MutationGroup } from '@sluice/model';

/** The alphabet and lengths of names that the API server generates (K1). */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const maxBaseLength = 58;
const suffixLength = 5;

export interface NameOptions {
  readonly ownerUid: string;
  /** Part of the seed because policies may number the plans of each controller separately. */
  readonly controller: Controller;
  readonly plan: PlanId;
  /** An earlier plan whose names are used first; see {@link ControllerState.unconfirmedCreates}. Default: none. */
  readonly unconfirmed?: PlanId | undefined;
  /** Whether a known slice has, or had, this name. */
  readonly isTaken: (name: string) => boolean;
}

/**
 * Names every slice to be created, in the form of a generated name but derived from the plan, so that a repeated create
 * meets AlreadyExists instead of making a second slice. A plan that replaces an unconfirmed one uses the same names, so
 * that requests of either one that arrive late meet AlreadyExists too. All of its plans count through one series of names
 * and pass over those that are taken, so every later plan that creates as many slices has the names of the earlier ones.
 */
export function withDerivedNames(groups: readonly MutationGroup[], options: NameOptions): readonly MutationGroup[] {
  let place = 0;
  return groups.map(({ mutations }) => ({
    mutations: mutations.map((mutation) => {
      if (!needsName(mutation)) return mutation;
      while (options.isTaken(nameAt(mutation, place, options))) place++;
      return withName(mutation, nameAt(mutation, place++, options));
    }),
  }));
}

type SliceCreation = Extract<Mutation, { resource: 'endpointslices'; verb: 'create' }>;

function needsName(mutation: Mutation): mutation is SliceCreation {
  if (mutation.verb !== 'create' || mutation.resource !== 'endpointslices') return false;
  const { name, generateName } = mutation.object.metadata;
  return name === '' && generateName !== undefined;
}

function nameAt({ object }: SliceCreation, place: number, options: NameOptions): string {
  const { ownerUid, controller, plan, unconfirmed } = options;
  const { epoch, number } = unconfirmed ?? plan;
  const base = (object.metadata.generateName ?? '').slice(0, maxBaseLength);
  return base + suffixOf(`${ownerUid}/${controller}/${epoch}/${number}/${place}`);
}

function withName(mutation: SliceCreation, name: string): SliceCreation {
  const object: EndpointSlice = { ...mutation.object, metadata: { ...mutation.object.metadata, name } };
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
