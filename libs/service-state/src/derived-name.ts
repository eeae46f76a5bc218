import type { Controller, EndpointSlice, Mutation, MutationGroup } from '@sluice/controllers';
import type { PlanId } from '@sluice/messages';

/** K1: the alphabet and lengths of names that the API server generates. */
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
  /** Whether a known slice has this name. */
  readonly isTaken: (name: string) => boolean;
}

/**
 * Names every slice to be created, in the form of a generated name but derived from the plan, so that a repeated create
 * meets AlreadyExists instead of making a second slice. A plan that replaces an unconfirmed one uses the same names, so
 * that requests of either one that arrive late meet AlreadyExists too. Slices are numbered across all groups, because the
 * replacement may update where the other one has created, and the other way round.
 */
export function withDerivedNames(groups: readonly MutationGroup[], options: NameOptions): readonly MutationGroup[] {
  let place = 0;
  return groups.map(({ mutations }) => ({
    mutations: mutations.map((mutation) => (needsName(mutation) ? withName(mutation, place++, options) : mutation)),
  }));
}

type SliceCreation = Extract<Mutation, { resource: 'endpointslices'; verb: 'create' }>;

function needsName(mutation: Mutation): mutation is SliceCreation {
  if (mutation.verb !== 'create' || mutation.resource !== 'endpointslices') return false;
  const { name, generateName } = mutation.object.metadata;
  return name === '' && generateName !== undefined;
}

function withName(mutation: SliceCreation, place: number, options: NameOptions): SliceCreation {
  const { metadata } = mutation.object;
  const { ownerUid, controller, plan, unconfirmed, isTaken } = options;
  const base = (metadata.generateName ?? '').slice(0, maxBaseLength);
  const nameAfter = ({ epoch, number }: PlanId) =>
    base + suffixOf(`${ownerUid}/${controller}/${epoch}/${number}/${place}`);
  const former = unconfirmed && nameAfter(unconfirmed);
  const name = former === undefined || isTaken(former) ? nameAfter(plan) : former;
  const object: EndpointSlice = { ...mutation.object, metadata: { ...metadata, name } };
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
