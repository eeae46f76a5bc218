import { noCauses, type PlannedMutations, type ServiceKey } from '@sluice/messages';
import type { EndpointSlice, Mutation } from '@sluice/model';

export function aSlice(name: string, addresses: readonly string[], more: Partial<EndpointSlice['metadata']> = {}) {
  const slice: EndpointSlice = {
    metadata: {
      name,
      namespace: 'shop',
      labels: {
        'kubernetes.io/service-name': 'web',
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      },
      ...more,
    },
    addressType: 'IPv4',
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
    ports: [{ name: 'http', protocol: 'TCP', port: 80 }],
  };
  return slice;
}

export interface GivenPlan {
  readonly key: ServiceKey;
  /** Of the slice that is created, unless `mutations` are given. */
  readonly addresses?: readonly string[];
  readonly mutations?: readonly Mutation[];
  readonly number?: number;
  readonly incomplete?: readonly string[];
}

export function aPlan({ key, addresses = [], mutations, number = 1, incomplete = [] }: GivenPlan): PlannedMutations {
  const create: Mutation = {
    verb: 'create',
    resource: 'endpointslices',
    object: aSlice(`web-${number}`, addresses),
  };
  return {
    ...{ kind: 'mutations', key, controller: 'endpointslice', plan: { epoch: 1, number } },
    ...{ groups: [{ mutations: mutations ?? [create] }], events: [], incomplete, serviceUid: 'u', causes: noCauses },
    decidedAt: 0,
  };
}
