import type { EndpointSlice, Mutation } from '@sluice/controllers';
import type { MutationResult, Outcome, PlannedMutations } from '@sluice/messages';
import { isAwaited, namesModifiedByOthers } from '@sluice/service-state';
import { type CompareSlices, withoutMoves } from './endpoint-changes.ts';
import type { DecidedEntry, DoneEntry, EndpointChange, MutationSummary, News } from './entry.ts';
import type { HistoryState } from './history-state.ts';

/** A plan, and the slices it writes as they were when it was decided; null: there was none. */
export interface DescribedPlan {
  readonly plan: PlannedMutations;
  readonly existing: ReadonlyMap<string, EndpointSlice | null>;
}

/** Describes what a plan wants, compared with what exists. */
export function describePlan({ plan, existing }: DescribedPlan, compare: CompareSlices): DecidedEntry {
  const mutations = plan.groups.flatMap((group) => group.mutations);
  return {
    kind: 'decided',
    at: plan.decidedAt,
    controller: plan.controller,
    plan: plan.plan,
    mutations: mutations.map((mutation) => summarize(existing, mutation, compare)),
    incomplete: plan.incomplete,
    events: plan.events.map(({ reason, message }) => ({ reason, message })),
    causes: plan.causes,
  };
}

/** The plan with the slices that it writes, as they are now. */
export function withExisting({ state }: HistoryState, plan: PlannedMutations): DescribedPlan {
  const existing = new Map<string, EndpointSlice | null>();
  for (const mutation of plan.groups.flatMap(({ mutations }) => mutations)) {
    if (mutation.resource !== 'endpointslices') continue;
    const name = nameOf(mutation);
    existing.set(name, state.slices.get(name)?.slice ?? null);
  }
  return { plan, existing };
}

/** Describes the result of a plan. Without the plan, whose record may be lost, only names are known. */
export function describeOutcome(
  outcome: Outcome,
  described: DescribedPlan | undefined,
  compare: CompareSlices,
): DoneEntry {
  const { controller, plan, status, message, retries, results, completedAt: at, decidedAt, causes } = outcome;
  const observedAt = causes.first[0]?.observedAt;
  return {
    ...{ kind: 'done', at, controller, plan, status, message, retries, causes },
    latencyMs: observedAt === undefined ? null : Math.max(0, at - observedAt),
    applyMs: Math.max(0, at - decidedAt),
    writes: results.map(({ verb, resource, name, status }) => ({ verb, resource, name, ok: status === 'applied' })),
    endpoints: withoutMoves(
      described === undefined ? [] : results.flatMap((one) => changesOf(one, described, compare)),
    ),
  };
}

/** What somebody else wrote to the plan's objects before its Outcome arrived. Call it before the Outcome is applied. */
export function newsBeforeOutcome({ state }: HistoryState, outcome: Outcome): readonly News[] {
  const { inFlight } = state.controller(outcome.controller);
  if (inFlight === null || !isAwaited(state, outcome)) return [];
  const of = outcome.controller === 'endpoints' ? 'endpoints' : 'slice';
  const what = of === 'endpoints' ? 'were changed by somebody else' : 'was changed by somebody else';
  return namesModifiedByOthers(inFlight, outcome.results).map((name) => ({ of, name, what }));
}

function changesOf(
  result: MutationResult,
  { plan, existing }: DescribedPlan,
  compare: CompareSlices,
): readonly EndpointChange[] {
  const mutation = plan.groups[result.group]?.mutations[result.index];
  if (result.status !== 'applied' || mutation === undefined || mutation.resource !== 'endpointslices') return [];
  const after = (result.current as EndpointSlice | null | undefined) ?? desired(mutation);
  return compare(result.name, existing.get(nameOf(mutation)) ?? null, after);
}

function summarize(existing: DescribedPlan['existing'], mutation: Mutation, compare: CompareSlices): MutationSummary {
  const name = nameOf(mutation);
  const { verb, resource } = mutation;
  const endpoints = resource === 'endpoints' ? [] : compare(name, existing.get(name) ?? null, desired(mutation));
  return { verb, resource, name, endpoints };
}

function desired(mutation: Mutation): EndpointSlice | null {
  return mutation.verb === 'delete' || mutation.resource === 'endpoints' ? null : mutation.object;
}

const nameOf = (mutation: Mutation): string =>
  mutation.verb === 'delete' ? mutation.name : mutation.object.metadata.name;
