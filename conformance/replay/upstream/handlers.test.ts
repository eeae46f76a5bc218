import type { Fact } from '@sluice/messages';
import {
  type Controller,
  type Endpoints,
  projectEndpointSlice,
  projectEndpoints,
  projectPod,
  projectService,
} from '@sluice/model';
import { ServiceState } from '@sluice/service-state';
import { aController } from '@sluice/service-state/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { affected, noticedAtEnd } from './handlers.ts';

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

const aSlice = (name: string) =>
  projectEndpointSlice({
    metadata: {
      ...metadata,
      name,
      uid: `uid-${name}`,
      generation: 1,
      labels: { 'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io' },
    },
    addressType: 'IPv4',
    endpoints: [],
  });

const fact = {
  pod: (name: string, ready = true, zone = 'a'): Fact => ({
    kind: 'pod',
    name,
    pod: aPod(name, { ready }),
    node: { zone },
  }),
  slice: (name: string): Fact => ({ kind: 'slice', name, slice: aSlice(name), uid: `uid-${name}` }),
  sliceGone: (name: string): Fact => ({ kind: 'slice', name, slice: null, uid: `uid-${name}` }),
  sliceElsewhere: (name: string): Fact => ({ kind: 'slice', name, slice: null, uid: `uid-${name}`, relabelled: true }),
};

const stamp = { epoch: 1, sequence: 1 };
let view: ServiceState;
const noticed = (given: Fact, resent = false) => [...affected(view, given, resent)].sort();

beforeEach(() => {
  view = new ServiceState(key);
});

function track(controller: Controller, name: string, generation: number): void {
  view.setController(controller, aController({ trackers: { tracked: { [`uid-${name}`]: generation } } }));
}

test('a Pod that a resync shows is not noticed', () => {
  expect(noticed(fact.pod('p'))).toEqual(['endpoints', 'endpointslice']);
  expect(noticed(fact.pod('p'), true)).toEqual([]);
});

describe('a slice', () => {
  test('is noticed if it is not tracked, or newer than written (E4, E5)', () => {
    expect(noticed(fact.slice('s'))).toEqual(['endpointslice']);
    track('endpointslice', 's', 1);
    view.setSlice('s', { slice: aSlice('s'), stamp });
    expect(noticed(fact.slice('s'))).toEqual([]);
    track('endpointslice', 's', 0);
    expect(noticed(fact.slice('s'))).toEqual(['endpointslice']);
  });

  test('that is deleted is noticed if it is tracked and its deletion was not expected (E6)', () => {
    view.setSlice('s', { slice: aSlice('s'), stamp });
    expect(noticed(fact.sliceGone('s'))).toEqual([]);
    track('endpointslice', 's', 1);
    expect(noticed(fact.sliceGone('s'))).toEqual(['endpointslice']);
    track('endpointslice', 's', -1);
    expect(noticed(fact.sliceGone('s'))).toEqual([]);
    expect(noticed(fact.sliceElsewhere('s'))).toEqual(['endpointslice']);
  });
});

describe('the end of a snapshot', () => {
  const batchPeriodMs = { endpoints: 300, endpointslice: 500, endpointslicemirroring: 700 };
  const noticedThen = (start: boolean) => [...noticedAtEnd(view, start, batchPeriodMs)];

  test('of a start is noticed by all controllers, that of a resync for Services and mirrorable Endpoints (A7)', () => {
    expect(noticedThen(true)).toHaveLength(3);
    expect(noticedThen(false)).toEqual([]);
    view.setService({ service: aService(), stamp });
    expect(noticedThen(false)).toEqual([
      ['endpoints', 0],
      ['endpointslice', 0],
    ]);
    view.setEndpoints({ endpoints: someEndpoints(), stamp });
    expect(noticedThen(false)).toHaveLength(3);
  });

  test('also enqueues for untracked slices, after at least a second (E4, E5)', () => {
    view.setSlice('s', { slice: aSlice('s'), stamp });
    expect(noticedThen(false)).toEqual([['endpointslice', 1000]]);
    track('endpointslice', 's', 1);
    expect(noticedThen(false)).toEqual([]);
  });
});
