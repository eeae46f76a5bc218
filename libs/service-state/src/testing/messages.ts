import type { Change, Fact, MutationResult, Outcome, PlannedMutations, ServiceKey, Stamp } from '@sluice/messages';
import { aPod, aSlice, someEndpoints } from './objects.ts';

/** Messages about the Service shop/web of the cluster `c`. */

export const key: ServiceKey = { cluster: 'c', namespace: 'shop', service: 'web' };
export const keyText = 'c/shop/web';

export const whatHappened = (what: string) => ({ first: [{ description: what, observedAt: 1 }], more: 0 });

/** `sequence` in epoch 1, or `[epoch, sequence]`. The last Change of its batch, of a watcher that has reached no version. */
export function aChange(
  sequence: number | readonly [number, number],
  facts: readonly Fact[],
  given: Partial<Change> = {},
): Change {
  const stamp: Stamp =
    typeof sequence === 'number' ? { epoch: 1, sequence } : { epoch: sequence[0], sequence: sequence[1] };
  const resourceVersions = { endpoints: '', endpointslices: '' };
  const causes = whatHappened(`change ${stamp.sequence}`);
  return { kind: 'change', key, stamp, facts, resourceVersions, causes, ...given };
}

interface GivenSnapshot {
  readonly initial?: boolean;
  readonly endpoints?: string;
  readonly endpointslices?: string;
}

/** A snapshot in one Change. */
export function aSnapshot(
  n: number | readonly [number, number],
  facts: readonly Fact[],
  { initial = false, endpoints = '100', endpointslices = '100' }: GivenSnapshot = {},
): Change {
  const resourceVersions = { endpoints, endpointslices };
  return aChange(n, facts, { resourceVersions, snapshot: { first: true, last: true, initial, resourceVersions } });
}

export const fact = {
  pod: (name: string, ready = true, zone = 'a'): Fact => ({
    kind: 'pod',
    name,
    pod: aPod(name, { ready }),
    node: { zone },
  }),
  podGone: (name: string): Fact => ({ kind: 'pod', name, pod: null, node: null }),
  slice: (name: string, given: Parameters<typeof aSlice>[1] = {}): Fact => {
    const slice = aSlice(name, given);
    return { kind: 'slice', name, slice, uid: slice.metadata.uid ?? '' };
  },
  sliceGone: (name: string, uid = `uid-${name}`): Fact => ({ kind: 'slice', name, slice: null, uid }),
  sliceElsewhere: (name: string): Fact => ({ kind: 'slice', name, slice: null, uid: `uid-${name}`, relabelled: true }),
  endpoints: (given: Parameters<typeof someEndpoints>[0] = {}): Fact => {
    const endpoints = someEndpoints(given);
    return { kind: 'endpoints', endpoints, uid: endpoints.metadata.uid ?? '' };
  },
  endpointsGone: (uid = 'endpoints-uid'): Fact => ({ kind: 'endpoints', endpoints: null, uid }),
  noService: { kind: 'service', service: null } satisfies Fact,
};

export const nameOf = ({ controller, plan }: Pick<PlannedMutations, 'controller' | 'plan'>): string =>
  `${controller} ${plan.epoch}/${plan.number}`;

/** A writer's Outcome of a plan: everything applied, unless given otherwise. */
export function anOutcome(plan: PlannedMutations, given: Partial<Outcome> = {}): Outcome {
  return {
    kind: 'outcome',
    key: plan.key,
    controller: plan.controller,
    plan: plan.plan,
    status: 'applied',
    results: allApplied(plan),
    message: '',
    causes: plan.causes,
    decidedAt: plan.decidedAt,
    completedAt: plan.decidedAt,
    retries: 0,
    ...given,
  };
}

/** Every mutation applied, with resourceVersions from `version` on, which rise from plan to plan. */
export function allApplied(plan: PlannedMutations, version = 40 + 10 * plan.plan.number): MutationResult[] {
  return plan.groups.flatMap(({ mutations }, group) =>
    mutations.map((mutation, index) => {
      const name = mutation.verb === 'delete' ? mutation.name : mutation.object.metadata.name;
      const uid = mutation.verb === 'delete' ? '' : (mutation.object.metadata.uid ?? `stored-${name}`);
      const stored = { uid, resourceVersion: `${version + group + index}`, generation: 1 };
      const base = { group, index, verb: mutation.verb, resource: mutation.resource, name, status: 'applied' as const };
      return mutation.verb === 'delete' ? base : { ...base, stored };
    }),
  );
}
