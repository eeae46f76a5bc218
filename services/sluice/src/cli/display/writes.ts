import type { Outcome, PlannedMutations } from '@sluice/messages';
import type { EndpointSlice, Endpoints, WrittenResource } from '@sluice/model';

/** One write of a plan, for people and for `--output json`. */
export interface Write {
  readonly verb: 'create' | 'update' | 'delete';
  readonly kind: 'Endpoints' | 'EndpointSlice';
  readonly name: string;
  readonly applied: boolean;
  /** Endpoints in the object as written; absent for deletes. */
  readonly endpoints?: number;
  readonly ready?: number;
  readonly addressType?: string;
  readonly error?: string;
}

const kinds: Readonly<Record<WrittenResource, Write['kind']>> = {
  endpoints: 'Endpoints',
  endpointslices: 'EndpointSlice',
};

export function writesOf(plan: PlannedMutations, outcome: Outcome): Write[] {
  return outcome.results.map((result) => {
    const mutation = plan.groups[result.group]?.mutations[result.index];
    const object = mutation === undefined || mutation.verb === 'delete' ? undefined : mutation.object;
    return {
      verb: result.verb,
      kind: kinds[result.resource],
      name: result.name,
      applied: result.status === 'applied',
      ...(object !== undefined && count(object)),
      ...(result.error !== undefined && { error: result.error }),
    };
  });
}

function count(object: Endpoints | EndpointSlice): { endpoints: number; ready: number; addressType?: string } {
  if ('addressType' in object) {
    const endpoints = object.endpoints ?? [];
    const ready = endpoints.filter((endpoint) => endpoint.conditions?.ready !== false).length;
    return { endpoints: endpoints.length, ready, addressType: object.addressType };
  }
  const subsets = object.subsets ?? [];
  // An address is listed once per group of ports, but counts once.
  const ready = new Set(subsets.flatMap((subset) => (subset.addresses ?? []).map(({ ip }) => ip)));
  const notReady = new Set(subsets.flatMap((subset) => (subset.notReadyAddresses ?? []).map(({ ip }) => ip)));
  return { endpoints: ready.union(notReady).size, ready: ready.size };
}
