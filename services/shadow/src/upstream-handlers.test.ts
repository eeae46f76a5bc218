import { type Endpoints, projectEndpoints, projectPod, projectService } from '@sluice/model';
import { initialControllerState, ServiceState } from '@sluice/service-state';
import { beforeEach, describe, expect, test } from 'vitest';
import { noticedBy, type ObservedFact } from './upstream-handlers.ts';

const key = { cluster: 'c', namespace: 'shop', service: 'web' };
const metadata = { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '5' };
const aService = (selector: object | null = { app: 'web' }) => projectService({ metadata, spec: { selector } });
const someEndpoints = (): Endpoints => projectEndpoints({ metadata });

const aPod = (name: string, { ready = true, hostname = '' } = {}) =>
  projectPod({
    metadata: { name, namespace: 'shop' },
    spec: { hostname },
    status: { podIP: '10.1.0.1', conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  }).pod;

const fact = {
  pod: (name: string, ready = true, zone = 'a'): ObservedFact => ({
    kind: 'pod',
    name,
    pod: aPod(name, { ready }),
    node: { zone },
  }),
  podGone: (name: string): ObservedFact => ({ kind: 'pod', name, pod: null, node: null }),
  endpoints: (): ObservedFact => ({ kind: 'endpoints', endpoints: someEndpoints(), uid: 'u' }),
  endpointsGone: (): ObservedFact => ({ kind: 'endpoints', endpoints: null, uid: 'u' }),
  noService: { kind: 'service', service: null } satisfies ObservedFact,
};

const stamp = { epoch: 1, sequence: 1 };
let view: ServiceState;
const noticed = (given: ObservedFact) => [...noticedBy(view, given)].sort();

beforeEach(() => {
  view = new ServiceState(key);
});

describe('a Service', () => {
  test('is always noticed; by mirroring if it has no selector, or if its selector was added or removed (D1, E1, H3)', () => {
    const selecting: ObservedFact = { kind: 'service', service: aService() };
    const custom: ObservedFact = { kind: 'service', service: aService(null) };
    expect(noticed(selecting)).toEqual(['endpoints', 'endpointslice']);
    expect(noticed(custom)).toHaveLength(3);
    view.setService({ service: aService(null), stamp });
    expect(noticed(custom)).toHaveLength(2);
    expect(noticed(selecting)).toHaveLength(3);
    expect(noticed(fact.noService)).toHaveLength(3);
  });
});

describe('a Pod', () => {
  test('is noticed if it is added, deleted or relevantly changed (C12)', () => {
    expect(noticed(fact.pod('p'))).toEqual(['endpoints', 'endpointslice']);
    view.setPod('p', { pod: aPod('p'), node: { zone: 'a' }, stamp });
    expect(noticed(fact.pod('p', true, 'b'))).toEqual([]);
    expect(noticed(fact.pod('p', false))).toHaveLength(2);
    expect(noticed(fact.podGone('p'))).toHaveLength(2);
    expect(noticed({ kind: 'pod', name: 'p', pod: aPod('p', { hostname: 'h' }), node: { zone: 'a' } })).toEqual([]);
  });
});

describe('Endpoints', () => {
  test('are noticed by their own controller on deletion (D3), by mirroring if they are mirrorable (H1)', () => {
    expect(noticed(fact.endpoints())).toEqual(['endpointslicemirroring']);
    view.setEndpoints({ endpoints: someEndpoints(), stamp });
    expect(noticed(fact.endpointsGone())).toEqual(['endpoints', 'endpointslicemirroring']);
  });
});

test('zone ratios are noticed only by overloaded Services (F14)', () => {
  const topology: ObservedFact = {
    kind: 'topology',
    topology: { zoneRatios: { a: 0.5, b: 0.5 }, nodesByZone: { a: 1, b: 1 } },
  };
  expect(noticed(topology)).toEqual([]);
  const hints = { populated: true, byAddressType: { IPv4: { a: 4 } } };
  view.setController('endpointslice', {
    ...initialControllerState,
    trackers: { ...initialControllerState.trackers, hints },
  });
  expect(noticed(topology)).toEqual(['endpointslice']);
});
