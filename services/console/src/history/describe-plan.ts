import { endpointsWriter } from '@sluice/controllers';
import type { MutationResult, Outcome, PlannedMutations } from '@sluice/messages';
import type { EndpointSlice, Mutation } from '@sluice/model';
import { isAwaited, namesModifiedByOthers, type Settings } from '@sluice/service-state';
import type {
  CompletedEntry,
  DecidedEntry,
  EndpointChange,
  MutationSummary,
  Observation,
  TimeSpent,
} from '../view/entry-schemas.ts';
import { endpointsModifiedText, sliceModifiedText } from './describe-change.ts';
import { type CompareSlices, withoutMoves } from './endpoint-changes.ts';
import { type CompletedPlan, heldBy, timeSpent } from './held-by.ts';
import type { HistoryState } from './history-state.ts';

/** A plan and the slices it writes as they were when it was decided; null: the slice did not exist. */
export interface DescribedPlan {
  readonly plan: PlannedMutations;
  readonly existing: ReadonlyMap<string, EndpointSlice | null>;
  /** Where the time from its first cause to its decision went. */
  readonly held: readonly TimeSpent[];
}

/** Describes the writes of a plan, compared with the existing slices. */
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

/** Adds the current state of the slices that the plan writes, and what held it. `last`: the controller's plan before. */
export function withState(
  { state }: HistoryState,
  plan: PlannedMutations,
  last: CompletedPlan | undefined,
  { batchPeriodMs }: Settings,
): DescribedPlan {
  const existing = new Map<string, EndpointSlice | null>();
  for (const mutation of plan.groups.flatMap(({ mutations }) => mutations)) {
    if (mutation.resource !== 'endpointslices') continue;
    const name = nameOf(mutation);
    existing.set(name, state.slices.get(name)?.slice ?? null);
  }
  const { controller } = plan;
  return { plan, existing, held: heldBy(plan, state.controller(controller), last, batchPeriodMs[controller] ?? 0) };
}

/** Describes the Outcome of a plan. If the record of the plan is lost, only the names of its objects are known. */
export function describeOutcome(
  outcome: Outcome,
  described: DescribedPlan | undefined,
  compare: CompareSlices,
): CompletedEntry {
  const { controller, plan, status, message, retries, results, completedAt: at, decidedAt, causes } = outcome;
  const observedAt = causes.first[0]?.observedAt;
  const spent = described && timeSpent(outcome, described.held);
  return {
    kind: 'completed',
    at,
    controller,
    plan,
    status,
    message,
    retries,
    causes,
    latencyMs: observedAt === undefined ? null : Math.max(0, at - observedAt),
    applyMs: Math.max(0, at - decidedAt),
    ...(spent && { spent }),
    writes: results.map(({ verb, resource, name, status }) => ({ verb, resource, name, ok: status === 'applied' })),
    endpoints: withoutMoves(
      described === undefined ? [] : results.flatMap((result) => changesOf(result, described, compare)),
    ),
  };
}

/** Writes of other clients to the plan's objects while it was in flight. Call this before the Outcome is applied. */
export function otherWrites(history: HistoryState, outcome: Outcome): readonly Observation[] {
  const { inFlight } = history.state.controller(outcome.controller);
  if (inFlight === null || !isAwaited(history.state, outcome)) return [];
  const of = outcome.controller === endpointsWriter ? 'endpoints' : 'slice';
  return namesModifiedByOthers(inFlight, outcome.results).map((name) => {
    const manager = history.managerOf(of, name);
    if (of === 'endpoints') return { of, name, text: endpointsModifiedText(manager) };
    const written = writtenSlice(name, inFlight.message, outcome.results);
    return { of, name, text: sliceModifiedText(manager, written, history.slices.get(name)?.slice) };
  });
}

/** The slice as the plan has written it; undefined if the write is not known to have succeeded. */
function writtenSlice(name: string, { groups }: PlannedMutations, results: readonly MutationResult[]) {
  const result = results.find((one) => one.name === name && one.status === 'applied');
  const mutation = result && groups[result.group]?.mutations[result.index];
  return (mutation && desired(mutation)) ?? undefined;
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
