import type { PlannedMutations } from '@sluice/messages';
import type { EndpointSlice, Endpoints, Mutation } from '@sluice/model';

/** Builders for plans: a test states what matters, the rest has defaults. */

export function aSlice(name: string, version?: number): EndpointSlice {
  const resourceVersion = version === undefined ? {} : { uid: `uid-${name}`, resourceVersion: `${version}` };
  return {
    metadata: { name, namespace: 'shop', labels: { 'kubernetes.io/service-name': 'web' }, ...resourceVersion },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.0.1'], conditions: { ready: true } }],
    ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
  };
}

export const someEndpoints: Endpoints = { metadata: { name: 'web', namespace: 'shop' }, subsets: [] };

export const create = (name: string): Mutation => ({
  verb: 'create',
  resource: 'endpointslices',
  object: aSlice(name),
});
export const update = (name: string, version = 7): Mutation => ({
  verb: 'update',
  resource: 'endpointslices',
  object: aSlice(name, version),
});
export const remove = (name: string, resource: 'endpoints' | 'endpointslices' = 'endpointslices'): Mutation => ({
  verb: 'delete',
  resource,
  name,
  uid: `uid-${name}`,
  resourceVersion: '7',
});

interface GivenPlan extends Partial<Omit<PlannedMutations, 'plan' | 'key'>> {
  readonly service?: string;
  readonly cluster?: string;
  readonly epoch?: number;
  readonly number?: number;
}

/** Returns a plan with one group per list of mutations. */
export function aPlan(groups: readonly (readonly Mutation[])[], given: GivenPlan = {}): PlannedMutations {
  const { service = 'web', cluster = 'c', epoch = 1, number = 1, ...rest } = given;
  return {
    kind: 'mutations',
    key: { cluster, namespace: 'shop', service },
    controller: 'endpointslice',
    plan: { epoch, number },
    groups: groups.map((mutations) => ({ mutations: mutations.map((mutation) => ofService(mutation, service)) })),
    events: [],
    incomplete: [],
    serviceUid: 'service-uid',
    causes: { first: [{ description: 'test', observedAt: 1 }], more: 0 },
    decidedAt: 2,
    ...rest,
  };
}

/** Moves a mutation of the default Service to the given Service. */
function ofService(mutation: Mutation, service: string): Mutation {
  if (mutation.verb === 'delete' || mutation.resource !== 'endpointslices') return mutation;
  const { object } = mutation;
  if (object.metadata.labels?.['kubernetes.io/service-name'] !== 'web') return mutation;
  const metadata = { ...object.metadata, labels: { 'kubernetes.io/service-name': service } };
  return { ...mutation, object: { ...object, metadata } };
}
