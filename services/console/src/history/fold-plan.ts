import type { Controller, EndpointSlice, Mutation } from '@sluice/controllers';
import { comparePlans, type MutationResult, type Outcome, type PlannedMutations } from '@sluice/messages';
import { type CompareSlices, withoutMoves } from './endpoint-changes.ts';
import type { DecidedEntry, DoneEntry, EndpointChange, MutationSummary } from './entry.ts';
import type { ServiceState } from './service-state.ts';

/** What a plan wants, compared with what is there. */
export function describePlan(state: ServiceState, plan: PlannedMutations, compare: CompareSlices): DecidedEntry {
  const mutations = plan.groups.flatMap((group) => group.mutations);
  for (const { reason, message } of plan.events) {
    if (reason.startsWith('TopologyAwareHints')) state.hints = { reason, message, at: plan.decidedAt };
  }
  state.inFlight.set(plan.controller, plan);
  return {
    kind: 'decided',
    at: plan.decidedAt,
    controller: plan.controller,
    plan: plan.plan,
    mutations: mutations.map((mutation) => summary(state, mutation, compare)),
    incomplete: plan.incomplete,
    events: plan.events.map(({ reason, message }) => ({ reason, message })),
    causes: plan.causes,
  };
}

/** Folds what became of a plan. Without the plan, of which the log may have lost the record, only names are known. */
export function foldOutcome(
  state: ServiceState,
  outcome: Outcome,
  plan: PlannedMutations | undefined,
  compare: CompareSlices,
): DoneEntry {
  const changes: EndpointChange[] = [];
  for (const result of outcome.results) changes.push(...foldResult(state, result, mutationOf(plan, result), compare));
  const inFlight = state.inFlight.get(outcome.controller);
  if (inFlight && comparePlans(inFlight.plan, outcome.plan) <= 0) state.inFlight.delete(outcome.controller);
  noteStatus(state, outcome.controller, outcome);
  const { completedAt: at, decidedAt, causes } = outcome;
  const observedAt = causes.first[0]?.observedAt;
  state.seenAt = Math.max(state.seenAt, at);
  return {
    kind: 'done',
    at,
    controller: outcome.controller,
    plan: outcome.plan,
    status: outcome.status,
    message: outcome.message,
    retries: outcome.retries,
    latencyMs: observedAt === undefined ? null : Math.max(0, at - observedAt),
    applyMs: Math.max(0, at - decidedAt),
    writes: outcome.results.map(({ verb, resource, name, status }) => ({
      verb,
      resource,
      name,
      ok: status === 'applied',
    })),
    endpoints: withoutMoves(changes),
    causes,
  };
}

function noteStatus(state: ServiceState, controller: Controller, { status, message, completedAt }: Outcome): void {
  if (status === 'rejected') state.refused.set(controller, { message, since: completedAt });
  if (status === 'applied') {
    state.refused.delete(controller);
    state.appliedAt = Math.max(state.appliedAt, completedAt);
  }
}

function foldResult(
  state: ServiceState,
  result: MutationResult,
  mutation: Mutation | undefined,
  compare: CompareSlices,
): EndpointChange[] {
  const { resource, name } = result;
  if (resource === 'endpoints') {
    foldEndpoints(state, result, mutation);
    return [];
  }
  const before = state.slices.get(name) ?? null;
  const after = storedSlice(result, mutation);
  if (after === undefined) return [];
  if (after === null) state.slices.delete(name);
  else state.slices.set(name, after);
  return result.status === 'applied' ? compare(name, before, after) : [];
}

function foldEndpoints(state: ServiceState, result: MutationResult, mutation: Mutation | undefined): void {
  if (result.current !== undefined) {
    state.endpoints = result.current === null ? null : { subsets: [], ...result.current };
  } else if (result.status === 'applied' && mutation?.verb === 'delete') {
    state.endpoints = null;
  } else if (result.status === 'applied' && mutation?.resource === 'endpoints' && mutation.verb !== 'delete') {
    state.endpoints = { ...mutation.object, metadata: { ...mutation.object.metadata, ...result.stored } };
  }
}

/** The slice as it is now, null if there is none; undefined if the result does not tell. */
function storedSlice(result: MutationResult, mutation: Mutation | undefined): EndpointSlice | null | undefined {
  if (result.current !== undefined) return result.current as EndpointSlice | null;
  if (result.status !== 'applied') return undefined;
  if (result.verb === 'delete') return null;
  if (mutation === undefined || mutation.verb === 'delete' || mutation.resource !== 'endpointslices') return undefined;
  return { ...mutation.object, metadata: { ...mutation.object.metadata, ...result.stored, name: result.name } };
}

function mutationOf(plan: PlannedMutations | undefined, { group, index }: MutationResult): Mutation | undefined {
  return plan?.groups[group]?.mutations[index];
}

function summary(state: ServiceState, mutation: Mutation, compare: CompareSlices): MutationSummary {
  const name = mutation.verb === 'delete' ? mutation.name : mutation.object.metadata.name;
  const { verb, resource } = mutation;
  if (resource === 'endpoints') return { verb, resource, name, endpoints: [] };
  const before = state.slices.get(name) ?? null;
  const after = mutation.verb === 'delete' ? null : (mutation.object as EndpointSlice);
  return { verb, resource, name, endpoints: compare(name, before, after) };
}
