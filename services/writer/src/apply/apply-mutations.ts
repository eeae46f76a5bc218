import { type ApiError, type ClusterWriter, isApiError, type RawObject } from '@sluice/kubernetes';
import type { MutationResult, OutcomeStatus, PlannedMutations, ServiceKey } from '@sluice/messages';
import {
  type EndpointSlice,
  type Endpoints,
  MalformedObjectError,
  type Mutation,
  projectEndpointSlice,
  projectEndpoints,
  serviceNameLabel,
  type WrittenResource,
} from '@sluice/model';
import { equalContent } from './find-competing-write.ts';

/** The result of applying a plan, from which its Outcome is made. */
export interface ApplyResult {
  readonly status: OutcomeStatus;
  readonly results: readonly MutationResult[];
  readonly failures: readonly Failure[];
  /** When the first request was sent, in milliseconds since the Unix epoch. Default: none was. */
  readonly startedAt?: number | undefined;
  /** Number of retried requests. Default: 0. */
  readonly retries?: number;
  /** Delay of the next attempt by the limit of retries, in milliseconds. Default: 0. */
  readonly retryAfterMs?: number;
  /** How long the controller should leave the Service alone because the API server is saturated, in milliseconds. Default: 0. */
  readonly cooldownMs?: number;
  /** Whether a guard held the plan back. Default: no. */
  readonly heldBack?: true;
  /** Explanation, if no single mutation failed. */
  readonly message?: string;
}

/** A mutation that failed permanently, with the API server's message. */
interface Failure {
  readonly mutation: Mutation;
  readonly message: string;
}

type Step = { readonly result: MutationResult; readonly status: OutcomeStatus; readonly failure?: Failure };

/** In ascending order of what the reconciler has to do about it. */
const severity: readonly OutcomeStatus[] = ['applied', 'namespaceTerminating', 'conflict', 'unavailable', 'rejected'];

/**
 * Applies the groups of a plan concurrently; the mutations of a group run in order up to the first failure (E13, E28).
 */
export async function applyMutations(
  plan: PlannedMutations,
  cluster: ClusterWriter,
  signal: AbortSignal,
): Promise<ApplyResult> {
  // Wait for all groups even if one throws: no request of a plan may outlive it.
  const groups = await Promise.allSettled(
    plan.groups.map(async ({ mutations }, group) => {
      const steps: Step[] = [];
      for (const [index, mutation] of mutations.entries()) {
        const step = await applyMutation(plan.key, mutation, { group, index }, cluster, signal);
        steps.push(step);
        if (step.status !== 'applied') break;
      }
      return steps;
    }),
  );
  const steps = groups.flatMap((group) => {
    if (group.status === 'rejected') throw group.reason;
    return group.value;
  });
  return {
    status: steps.reduce<OutcomeStatus>((worst, { status }) => worse(worst, status), 'applied'),
    results: steps.map(({ result }) => result),
    failures: steps.flatMap(({ failure }) => (failure === undefined ? [] : [failure])),
  };
}

const worse = (a: OutcomeStatus, b: OutcomeStatus): OutcomeStatus =>
  severity.indexOf(a) >= severity.indexOf(b) ? a : b;

async function applyMutation(
  { namespace, service }: ServiceKey,
  mutation: Mutation,
  position: { readonly group: number; readonly index: number },
  cluster: ClusterWriter,
  signal: AbortSignal,
): Promise<Step> {
  const { verb, resource } = mutation;
  const name = mutation.verb === 'delete' ? mutation.name : mutation.object.metadata.name;
  const base = { ...position, verb, resource, name };
  const foreign = isOwnerUnknown(service, mutation)
    ? await sliceOfAnother({ namespace, service }, name, cluster, signal)
    : undefined;
  if (foreign !== undefined) {
    const message = `the slice belongs to another Service than ${service}`;
    const result = { ...base, status: 'failed' as const, error: message, current: foreign };
    return { status: 'conflict', result, failure: { mutation, message } };
  }
  try {
    const stored = await send(namespace, mutation, cluster, signal);
    return { status: 'applied', result: { ...base, status: 'applied', ...stored } };
  } catch (error) {
    if (!isApiError(error)) throw error;
    if (verb === 'delete' && resource === 'endpoints' && error.kind === 'notFound') {
      return { status: 'applied', result: { ...base, status: 'applied' } };
    }
    if (error.kind !== 'conflict' && error.kind !== 'notFound') {
      const status = statusOf(error, verb);
      const result = { ...base, status: 'failed' as const, error: error.message };
      if (status === 'namespaceTerminating') return { status, result };
      return { status, result, failure: { mutation, message: error.message } };
    }
    const current = await readBack(namespace, resource, name, cluster, signal);
    if (verb === 'delete' && current === null) return { status: 'applied', result: { ...base, status: 'applied' } };
    if (verb === 'create' && current && !current.metadata.deletionTimestamp && equalContent(mutation.object, current)) {
      // Reachable: created object read back
      // An earlier attempt created the object but its response was lost. Others may have added to the object since.
      const { uid = '', resourceVersion = '', generation = 0, creationTimestamp } = current.metadata;
      const stored = {
        uid,
        resourceVersion,
        generation,
        ...(creationTimestamp !== undefined && { creationTimestamp }),
      };
      return {
        status: 'applied',
        result: { ...base, status: 'applied', stored, current },
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

/**
 * Whether a mutation deletes a slice that may belong to another Service: a deletion carries only a name. Slices of a
 * Service are named after it with a generated suffix without a dash, so `web-db-x7k2p` does not belong to `web` (K1).
 */
function isOwnerUnknown(service: string, mutation: Mutation): boolean {
  if (mutation.verb !== 'delete' || mutation.resource !== 'endpointslices') return false;
  const { name } = mutation;
  return !name.startsWith(`${service}-`) || !/^[bcdfghjklmnpqrstvwxz2456789]{5}$/.test(name.slice(service.length + 1));
}

/** Returns the slice as stored if its label names another Service or none. */
async function sliceOfAnother(
  { namespace, service }: Pick<ServiceKey, 'namespace' | 'service'>,
  name: string,
  cluster: ClusterWriter,
  signal: AbortSignal,
): Promise<Endpoints | EndpointSlice | undefined> {
  const current = await readBack(namespace, 'endpointslices', name, cluster, signal);
  if (current === undefined || current === null) return undefined;
  return current.metadata.labels?.[serviceNameLabel] === service ? undefined : current;
}

/** A terminating namespace makes a create pointless; an update or delete rejected for it is retried (B10). */
function statusOf(error: ApiError, verb: Mutation['verb']): OutcomeStatus {
  if (error.kind === 'namespaceTerminating') return verb === 'create' ? 'namespaceTerminating' : 'rejected';
  return error.kind === 'retry' ? 'unavailable' : 'rejected';
}

async function send(namespace: string, mutation: Mutation, cluster: ClusterWriter, signal: AbortSignal) {
  switch (mutation.verb) {
    case 'create':
    case 'update': {
      const { name: _, ...stored } = await cluster[mutation.verb](mutation.resource, mutation.object, signal);
      return { stored };
    }
    case 'delete': {
      const { uid, resourceVersion } = mutation;
      const preconditions = {
        ...(uid !== undefined && { uid }),
        ...(resourceVersion !== undefined && { resourceVersion }),
      };
      const held = await cluster.delete(mutation.resource, namespace, mutation.name, preconditions, signal);
      if (held === undefined) return undefined;
      // Reachable: deletion held back by a finalizer
      const current = project(mutation.resource, held);
      return current && { current };
    }
  }
}

/** Returns undefined if the object cannot be decoded. */
function project(resource: WrittenResource, raw: RawObject): Endpoints | EndpointSlice | undefined {
  try {
    return resource === 'endpoints' ? projectEndpoints(raw) : projectEndpointSlice(raw);
  } catch (error) {
    if (error instanceof MalformedObjectError) return undefined;
    throw error;
  }
}

/** Reads the current object. Returns null if it does not exist, and undefined if it could not be read. */
async function readBack(
  namespace: string,
  resource: WrittenResource,
  name: string,
  cluster: ClusterWriter,
  signal: AbortSignal,
): Promise<Endpoints | EndpointSlice | null | undefined> {
  try {
    return project(resource, await cluster.get(resource, namespace, name, signal));
  } catch (error) {
    if (!isApiError(error)) throw error;
    return error.kind === 'notFound' ? null : undefined;
  }
}
