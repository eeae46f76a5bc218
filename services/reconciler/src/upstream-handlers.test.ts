import type { Controller } from '@sluice/controllers';
import type { Fact } from '@sluice/messages';
import { beforeEach, describe, expect, test } from 'vitest';
import { initialState } from './controller-state.ts';
import { ServiceView } from './service-view.ts';
import { fact, key } from './testing/messages.ts';
import { aPod, aService, aSlice, someEndpoints } from './testing/objects.ts';
import { noticedAtEnd, noticedBy } from './upstream-handlers.ts';

const stamp = { epoch: 1, n: 1 };
let view: ServiceView;
const noticed = (given: Fact, told = false) => [...noticedBy(view, given, told)].sort();

beforeEach(() => {
  view = new ServiceView(key);
});

function track(controller: Controller, name: string, generation: number): void {
  view.setController(controller, { ...initialState, tracked: new Map([[`uid-${name}`, generation]]) });
}

describe('a Service', () => {
  test('is noticed always, for mirroring if it has no selector, or one no longer, or now (D1, E1, H3)', () => {
    const selecting: Fact = { of: 'service', service: aService() };
    const custom: Fact = { of: 'service', service: aService({ selector: null }) };
    expect(noticed(selecting)).toEqual(['endpoints', 'endpointslice']);
    expect(noticed(custom)).toHaveLength(3);
    view.set('service', { service: aService({ selector: null }), stamp });
    expect(noticed(custom)).toHaveLength(2);
    expect(noticed(selecting)).toHaveLength(3);
    expect(noticed(fact.noService)).toHaveLength(3);
  });
});

describe('a Pod', () => {
  test('is noticed if it comes, goes, or counts as changed (C12)', () => {
    expect(noticed(fact.pod('p'))).toEqual(['endpoints', 'endpointslice']);
    expect(noticed(fact.pod('p'), true)).toEqual([]);
    view.setPod('p', { pod: aPod('p'), node: { zone: 'a' }, stamp });
    expect(noticed(fact.pod('p', true, 'b'))).toEqual([]);
    expect(noticed(fact.pod('p', false))).toHaveLength(2);
    expect(noticed(fact.podGone('p'))).toHaveLength(2);
    expect(noticed({ of: 'pod', name: 'p', pod: aPod('p', { hostname: 'h' }), node: { zone: 'a' } })).toEqual([]);
  });
});

describe('Endpoints', () => {
  test('are noticed by their own controller when they go (D3), by mirroring if they are mirrorable (H1)', () => {
    expect(noticed(fact.endpoints())).toEqual(['endpointslicemirroring']);
    view.set('endpoints', { endpoints: someEndpoints(), stamp });
    expect(noticed(fact.endpointsGone())).toEqual(['endpoints', 'endpointslicemirroring']);
  });
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

  test('that goes is noticed if it is tracked and nobody asked for that (E6)', () => {
    view.setSlice('s', { slice: aSlice('s'), stamp });
    expect(noticed(fact.sliceGone('s'))).toEqual([]);
    track('endpointslice', 's', 1);
    expect(noticed(fact.sliceGone('s'))).toEqual(['endpointslice']);
    track('endpointslice', 's', -1);
    expect(noticed(fact.sliceGone('s'))).toEqual([]);
    expect(noticed(fact.sliceElsewhere('s'))).toEqual(['endpointslice']);
  });
});

test('zone ratios are noticed only by a Service that is overloaded (F14)', () => {
  const topology: Fact = { of: 'topology', topology: { zoneRatios: { a: 0.5, b: 0.5 }, nodesByZone: { a: 1, b: 1 } } };
  expect(noticed(topology)).toEqual([]);
  const hints = { populated: true, byAddressType: { IPv4: { a: 4 } } };
  view.setController('endpointslice', { ...initialState, hints });
  expect(noticed(topology)).toEqual(['endpointslice']);
});

test('a start shows everything, a resync Services and mirrorable Endpoints (A7)', () => {
  expect([...noticedAtEnd(view, true)]).toHaveLength(3);
  expect([...noticedAtEnd(view, false)]).toEqual([]);
  view.set('service', { service: aService(), stamp });
  expect([...noticedAtEnd(view, false)]).toEqual(['endpoints', 'endpointslice']);
  view.set('endpoints', { endpoints: someEndpoints(), stamp });
  expect([...noticedAtEnd(view, false)]).toHaveLength(3);
});
