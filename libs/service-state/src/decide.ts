import { type Reconciled, resourcesOf } from '@sluice/controllers';
import type { PlanId, PlannedMutations, TraceContext } from '@sluice/messages';
import type { Controller, EndpointSlice, Mutation, MutationGroup } from '@sluice/model';
import { compact } from './compact.ts';
import { afterDecision, freeRepairs } from './controller-state.ts';
import { isDue } from './due.ts';
import { readyEndpointsDelta } from './ready-endpoints-delta.ts';
import { loggedSettings, othersInFlight, reconcile } from './reconcile.ts';
import type { ServiceState } from './service-state.ts';
import type { Settings } from './settings.ts';

interface DecisionInputs {
  readonly settings: Settings;
  /** Id of the next plan. */
  readonly nextPlan: PlanId;
  /**
   * Ready endpoints that a controller has written for all other Services of the cluster, for the mass-removal guard.
   * Default: none.
   */
  readonly readyElsewhere?: (controller: Controller) => number;
  /** Trace context for the message of the next plan. */
  readonly trace?: TraceContext | undefined;
}

/** What a plan leaves in the state besides itself. */
export type Tracked = Pick<Reconciled, 'triggers' | 'hints' | 'counts'>;

/** What a controller does because it is due. `evolve` applies it to the state. */
export type Decision = Planned | Unchanged | Redelivered | Parked;

/** The cluster has to be changed. */
export interface Planned {
  readonly kind: 'planned';
  readonly controller: Controller;
  readonly plan: PlannedMutations;
  readonly tracked: Tracked;
  /** Trace context of the plan's message. */
  readonly trace?: TraceContext;
}

/** The cluster is as it should be. */
export interface Unchanged {
  readonly kind: 'unchanged';
  readonly controller: Controller;
  /** Null: the state lags behind the controller's own writes, so nothing was compared (C20). */
  readonly tracked: Tracked | null;
}

/** The Outcome is overdue: the plan in flight is published again, unchanged. */
interface Redelivered {
  readonly kind: 'redelivered';
  readonly controller: Controller;
}

/** The decision failed with an error, or its plan can never be published. A plan in flight is dropped. */
interface Parked {
  readonly kind: 'parked';
  readonly controller: Controller;
  readonly reason: string;
}

/** The plan of a decision that has one of its own. */
export const planOf = (decision: Decision | null): PlannedMutations | undefined =>
  decision?.kind === 'planned' ? decision.plan : undefined;

/**
 * What the controller does at `now`; null if it is not due. Changes nothing and never throws. The result depends on the
 * arguments alone.
 */
export function decide(
  state: ServiceState,
  controller: Controller,
  now: number,
  inputs: DecisionInputs,
): Decision | null {
  if (!isDue(state, controller, now)) return null;
  if (state.controller(controller).inFlight !== null) return { kind: 'redelivered', controller };
  const unwatched = unwatchedFor(state, controller);
  if (unwatched.length > 0) {
    const reason = `the watcher does not watch ${unwatched.join(', ')}; start all processes with the same --controllers`;
    return { kind: 'parked', controller, reason };
  }
  try {
    if (inputs.settings.policy.isStale(state, controller)) return { kind: 'unchanged', controller, tracked: null };
    return planOrNot(state, controller, now, inputs);
  } catch (error) {
    // One Service whose decision fails must not stop the others.
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { kind: 'parked', controller, reason };
  }
}

/** What the controller needs although the watcher, which runs other controllers, does not watch it. */
function unwatchedFor({ snapshot: { unwatched } }: ServiceState, controller: Controller): readonly string[] {
  if (unwatched === undefined) return [];
  const needed: ReadonlySet<string> = resourcesOf([controller]);
  return unwatched.filter((resource) => needed.has(resource));
}

function planOrNot(
  state: ServiceState,
  controller: Controller,
  now: number,
  inputs: DecisionInputs,
): Planned | Unchanged {
  const { settings, trace } = inputs;
  const { compaction } = state.controller(controller).requests;
  const requested = compaction && { ...compaction, controller };
  const { plan, ...tracked } = reconcile(state, controller, settings);
  // First what has changed, then the compaction.
  const compacted =
    requested && plan.groups.length === 0 ? compact(state, requested, tracked.counts, now, settings) : undefined;
  if (compacted !== undefined) {
    const { groups, counts, compaction: done } = compacted;
    const message = { ...plannedMutations(state, controller, { ...plan, groups }, now, inputs), compaction: done };
    return { kind: 'planned', controller, plan: message, tracked: { ...tracked, counts }, ...(trace && { trace }) };
  }
  if (plan.groups.length === 0 && plan.events.length === 0 && plan.incomplete.length === 0)
    return { kind: 'unchanged', controller, tracked };
  const message = plannedMutations(state, controller, plan, now, inputs);
  return { kind: 'planned', controller, plan: message, tracked, ...(trace && { trace }) };
}

function plannedMutations(
  state: ServiceState,
  controller: Controller,
  plan: Reconciled['plan'],
  now: number,
  { settings, nextPlan: id, readyElsewhere }: DecisionInputs,
): PlannedMutations {
  const { causes, repairs, unconfirmedCreates } = state.controller(controller);
  const { count } = afterDecision(repairs, plan.groups.length > 0, now);
  const isCompeting = count >= freeRepairs || repairs.foreignWrites?.unrepaired === true;
  const service = state.service?.service;
  const ownerUid = service?.uid ?? state.endpoints?.endpoints.metadata.uid ?? '';
  const groups: readonly MutationGroup[] = withDerivedNames(plan.groups, {
    ownerUid,
    controller,
    plan: id,
    unconfirmed: unconfirmedCreates,
    isTaken: (name) => state.slices.has(name) || unconfirmedCreates?.taken?.includes(name) === true,
  });
  const logged = loggedSettings(settings);
  const ready = readyEndpointsDelta(state, controller, groups, readyElsewhere?.(controller) ?? 0);
  return {
    kind: 'mutations',
    key: state.key,
    controller,
    plan: id,
    groups,
    events: plan.events,
    incomplete: plan.incomplete,
    serviceUid: service?.uid ?? '',
    ...(ready && { ready }),
    ...(repairs.repairing && isCompeting && { consecutiveRepairs: Math.max(1, count) }),
    causes,
    basis: {
      stamp: state.snapshot.stamp,
      inFlight: othersInFlight(state, controller),
      ...(logged && { settings: logged }),
    },
    decidedAt: now,
  };
}

/** The alphabet and lengths of names that the API server generates (K1). */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const maxBaseLength = 58;
const suffixLength = 5;

interface NameOptions {
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
