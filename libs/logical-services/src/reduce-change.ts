import { podOf } from '@sluice/controllers';
import { type Change, type Fact, noCauses } from '@sluice/messages';
import type { Endpoint, EndpointConditions, EndpointSlice, Service } from '@sluice/model';
import type { ServiceSpec } from './service-spec.ts';

type Share = (service: Service) => ServiceSpec;

/**
 * What the join reads of a Change: the Service, and of each endpoint which one it is, its state and its zone. `share` returns
 * the spec of a Service, the same object for equal ones.
 */
export function reduceChange(change: Change, share: Share): Change {
  const { kind, key, stamp, resourceVersions, snapshot, unpublishable } = change;
  return {
    ...{ kind, key, stamp, causes: noCauses, facts: change.facts.flatMap((fact) => reduceFact(fact, share)) },
    ...(resourceVersions && { resourceVersions }),
    ...(snapshot && { snapshot }),
    ...(unpublishable !== undefined && { unpublishable }),
  };
}

function reduceFact(fact: Fact, share: Share): readonly Fact[] {
  switch (fact.kind) {
    case 'service':
      return [{ kind: 'service', service: fact.service && share(fact.service) }];
    case 'slice':
      return [{ ...fact, slice: fact.slice && reduceSlice(fact.slice) }];
    default:
      return [];
  }
}

function reduceSlice({ metadata, addressType, endpoints, ports }: EndpointSlice): EndpointSlice {
  const { name, namespace, uid = '', resourceVersion = '' } = metadata;
  return {
    metadata: { name, namespace, uid, resourceVersion },
    addressType,
    endpoints: (endpoints ?? []).map(reduceEndpoint),
    ports: (ports ?? []).length > 0 ? somePort : [],
  };
}

const somePort: NonNullable<EndpointSlice['ports']> = [{}];

function reduceEndpoint(endpoint: Endpoint): Endpoint {
  const { addresses, conditions, zone } = endpoint;
  // A Pod of two IP families is in two slices.
  const identity = podOf(endpoint) || (addresses[0] ?? '');
  return { addresses: [identity], conditions: sharedConditions(conditions), zone: zone ?? '' };
}

/** With the defaults of unknown conditions. */
function sharedConditions({ ready, serving, terminating }: EndpointConditions = {}): EndpointConditions {
  const isReady = ready ?? true;
  const index = (isReady ? 4 : 0) + ((serving ?? isReady) ? 2 : 0) + (terminating ? 1 : 0);
  return allConditions[index] ?? {};
}

const allConditions: readonly EndpointConditions[] = Array.from({ length: 8 }, (_, index) => ({
  ready: (index & 4) > 0,
  serving: (index & 2) > 0,
  terminating: (index & 1) > 0,
}));
