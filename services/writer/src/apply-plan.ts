import {
  type EndpointSlice,
  type Endpoints,
  type Mutation,
  projectEndpointSlice,
  projectEndpoints,
  type WrittenResource,
} from '@sluice/controllers';
import { type ApiError, type ClusterWriter, isApiError } from '@sluice/kubernetes';
import type { MutationResult, OutcomeStatus, PlannedMutations } from '@sluice/messages';
import { equalContent } from './equal-content.ts';
import type { Retrying } from './retrying.ts';

/** What became of a plan's mutations, before it is told as an Outcome. */
export interface Application {
  readonly status: OutcomeStatus;
  readonly results: readonly MutationResult[];
  readonly failures: readonly Failure[];
  readonly retries: number;
  /** For people, where no single mutation failed. */
  readonly message?: string;
}

/** A mutation that failed for good, with the API server's words. */
export interface Failure {
  readonly mutation: Mutation;
  readonly message: string;
}

type Step = { readonly result: MutationResult; readonly status: OutcomeStatus; readonly failure?: Failure };

/** From the least to the most that the reconciler has to do about it. */
const severity: readonly OutcomeStatus[] = ['applied', 'namespaceTerminating', 'conflict', 'unavailable', 'rejected'];

/** Applies the groups of a plan side by side, each in order up to its first failure (E13, E28). */
export async function applyPlan(
  plan: PlannedMutations,
  cluster: ClusterWriter,
  retrying: Retrying,
  signal: AbortSignal,
): Promise<Application> {
  let retries = 0;
  const tries: Retrying = (request) => retrying(request, () => retries++);
  // All of them to their end, also when one throws: nothing of a plan goes on once it is over.
  const settled = await Promise.allSettled(
    plan.groups.map(async ({ mutations }, group) => {
      const steps: Step[] = [];
      for (const [index, mutation] of mutations.entries()) {
        const step = await applyMutation(plan.key.namespace, mutation, { group, index }, cluster, tries, signal);
        steps.push(step);
        if (step.status !== 'applied') break;
      }
      return steps;
    }),
  );
  const steps = settled.flatMap((group) => {
    if (group.status === 'rejected') throw group.reason;
    return group.value;
  });
  return {
    status: steps.reduce<OutcomeStatus>((worst, { status }) => worse(worst, status), 'applied'),
    results: steps.map(({ result }) => result),
    failures: steps.flatMap(({ failure }) => (failure === undefined ? [] : [failure])),
    retries,
  };
}

const worse = (a: OutcomeStatus, b: OutcomeStatus): OutcomeStatus =>
  severity.indexOf(a) >= severity.indexOf(b) ? a : b;

async function applyMutation(
  namespace: string,
  mutation: Mutation,
  place: { readonly group: number; readonly index: number },
  cluster: ClusterWriter,
  retrying: Retrying,
  signal: AbortSignal,
): Promise<Step> {
  const { verb, resource } = mutation;
  const name = mutation.verb === 'delete' ? mutation.name : mutation.object.metadata.name;
  const base = { ...place, verb, resource, name };
  try {
    const stored = await retrying(() => send(namespace, mutation, cluster, signal));
    return { status: 'applied', result: { ...base, status: 'applied', ...(stored && { stored }) } };
  } catch (error) {
    if (!isApiError(error)) throw error;
    if (verb === 'delete' && resource === 'endpoints' && error.status === 404) {
      return { status: 'applied', result: { ...base, status: 'applied' } };
    }
    if (error.reaction !== 'conflict') {
      const status = statusOf(error, verb);
      const result = { ...base, status: 'failed' as const, error: error.message };
      if (status === 'namespaceTerminating') return { status, result };
      return { status, result, failure: { mutation, message: error.message } };
    }
    const current = await readBack(namespace, resource, name, cluster, retrying, signal);
    if (verb === 'delete' && current === null) return { status: 'applied', result: { ...base, status: 'applied' } };
    if (verb === 'create' && current && !current.metadata.deletionTimestamp && equalContent(mutation.object, current)) {
      // An earlier try of this very create came through without an answer. Somebody may have added to it since.
      const { uid = '', resourceVersion = '', generation = 0 } = current.metadata;
      return {
        status: 'applied',
        result: { ...base, status: 'applied', stored: { uid, resourceVersion, generation }, current },
      };
    }
    const result = {
      ...base,
      status: 'failed' as const,
      error: error.message,
      ...(current !== undefined && { current }),
    };
    return { status: 'conflict', result, failure: { mutation, message: error.message } };
  }
}

/** B10: that the namespace goes away settles creates only; an update or delete refused for it is tried again. */
function statusOf(error: ApiError, verb: Mutation['verb']): OutcomeStatus {
  if (error.reaction === 'namespaceTerminating') return verb === 'create' ? 'namespaceTerminating' : 'rejected';
  return error.reaction === 'retry' ? 'unavailable' : 'rejected';
}

async function send(namespace: string, mutation: Mutation, cluster: ClusterWriter, signal: AbortSignal) {
  switch (mutation.verb) {
    case 'create':
    case 'update': {
      const written = await cluster[mutation.verb](mutation.resource, mutation.object, signal);
      return { uid: written.uid, resourceVersion: written.resourceVersion, generation: written.generation };
    }
    case 'delete': {
      const { uid, resourceVersion } = mutation;
      const preconditions = {
        ...(uid !== undefined && { uid }),
        ...(resourceVersion !== undefined && { resourceVersion }),
      };
      await cluster.delete(mutation.resource, namespace, mutation.name, preconditions, signal);
      return undefined;
    }
  }
}

/** The object as it is now; null if there is none, undefined if that could not be learned. */
async function readBack(
  namespace: string,
  resource: WrittenResource,
  name: string,
  cluster: ClusterWriter,
  retrying: Retrying,
  signal: AbortSignal,
): Promise<Endpoints | EndpointSlice | null | undefined> {
  try {
    const raw = await retrying(() => cluster.get(resource, namespace, name, signal));
    return resource === 'endpoints' ? projectEndpoints(raw) : projectEndpointSlice(raw);
  } catch (error) {
    if (!isApiError(error)) throw error;
    return error.status === 404 ? null : undefined;
  }
}
