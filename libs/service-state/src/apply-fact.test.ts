import { controllers, decisionOrder, endpointSliceTracker } from '@sluice/controllers';
import { type Fact, noCauses } from '@sluice/messages';
import type { Controller, Mutation, NodePlacement, Pod } from '@sluice/model';
import { beforeEach, describe, expect, test } from 'vitest';
import { clearTracked, handleMissing, removeService, removeTracked } from './apply-fact.ts';
import type { InFlight } from './controller-state.ts';
import { WorkSet } from './due.ts';
import { evolve } from './evolve.ts';
import { ServiceState } from './service-state.ts';
import { defaultSettings } from './settings.ts';
import { aChange, aSnapshot, fact, key } from './testing/messages.ts';
import { aPod, aService, aSlice, someEndpoints } from './testing/objects.ts';

describe('apply fact', () => {
  const now = 1_000_000;
  let state: ServiceState;

  /** A watcher has published the slice `s` and the Endpoints in version 5; no decision is due. */
  beforeEach(() => {
    state = new ServiceState(key);
    const service: Fact = { kind: 'service', service: aService() };
    evolve(state, aSnapshot(1, [service, fact.slice('s'), fact.endpoints()]), now, defaultSettings);
    for (const controller of decisionOrder)
      state.setController(controller, {
        ...state.controller(controller),
        timers: { ...state.controller(controller).timers, dueAt: null },
        causes: noCauses,
      });
  });

  /** The controllers that a fact makes due. */
  function dueAfter(observed: Fact): readonly Controller[] {
    evolve(state, aChange(2, [observed]), now, defaultSettings);
    return decisionOrder.filter((controller) => state.controller(controller).timers.dueAt !== null);
  }

  function putInFlight(controller: Controller, mutation: Mutation): void {
    const message = { groups: [{ mutations: [mutation] }] };
    const inFlight = { message, watchEchoes: {}, redeliverAt: now + 5_000, redeliveries: 0 } as unknown as InFlight;
    state.setController(controller, { ...state.controller(controller), inFlight });
  }

  describe('a Pod', () => {
    const details = { owner: '', disruption: '', gracePeriodSeconds: 30, preStop: [], containers: ['app: waiting'] };
    const podFact = (given: Partial<Pod>, node: NodePlacement | null = { zone: 'a' }): Fact => {
      return { kind: 'pod', name: 'p', pod: aPod('p', given), node };
    };
    const noController: readonly Controller[] = [];

    test.each<[string, Fact, boolean]>([
      ['in nothing, as in a resync', podFact({ details }), true],
      ['in the states of its containers', podFact({ details: { ...details, containers: [] } }), false],
      ['in having no details', podFact({}), false],
      [
        'in the reason why it is not ready',
        podFact({ details, unready: { status: 'False', reason: 'R', message: 'm' } }),
        false,
      ],
      ['in the condition of its Node', podFact({ details }, { zone: 'a', condition: 'not ready' }), false],
      ['in details and readiness', podFact({ ready: false }), true],
      ['in details and zone', podFact({}, { zone: 'b' }), true],
      ['in details, and its Node is gone', podFact({}, null), true],
    ])('that differs %s', (_, next, isDue) => {
      dueAfter(podFact({ details }));
      for (const controller of decisionOrder)
        state.setController(controller, {
          ...state.controller(controller),
          timers: { ...state.controller(controller).timers, dueAt: null },
        });
      evolve(state, aChange(3, [next]), now, defaultSettings);
      const due = decisionOrder.filter((controller) => state.controller(controller).timers.dueAt !== null);
      expect(due).toEqual(isDue ? expect.arrayContaining(['endpoints', 'endpointslice']) : noController);
      expect(state.pods.get('p')?.pod).toEqual(next.kind === 'pod' ? next.pod : null);
    });
  });

  describe('the version that is known', () => {
    test('of Endpoints makes nothing due, and keeps the known object', () => {
      const before = state.endpoints?.endpoints;
      expect(dueAfter(fact.endpoints())).toEqual([]);
      expect(state.endpoints?.endpoints).toBe(before);
      expect(state.endpoints?.stamp).toEqual({ epoch: 1, sequence: 2 });
    });

    test('of a slice makes nothing due, and keeps the known object', () => {
      const before = state.slices.get('s')?.slice;
      expect(dueAfter(fact.slice('s'))).toEqual([]);
      expect(state.slices.get('s')?.slice).toBe(before);
      expect(state.slices.get('s')?.stamp).toEqual({ epoch: 1, sequence: 2 });
    });
  });

  describe('what the plan in flight does, delivered before its Outcome, needs no repair:', () => {
    test('a write of Endpoints, which are mirrored', () => {
      putInFlight('endpoints', { verb: 'update', resource: 'endpoints', object: someEndpoints() });
      expect(dueAfter(fact.endpoints({ version: 6 }))).toEqual(['endpointslicemirroring']);
      expect(state.controller('endpoints').inFlight?.watchEchoes).toEqual({ web: '6' });
    });

    test('a deletion of Endpoints', () => {
      putInFlight('endpoints', { verb: 'delete', resource: 'endpoints', name: 'web', uid: 'endpoints-uid' });
      expect(dueAfter(fact.endpointsGone())).toEqual(['endpointslicemirroring']);
      expect(state.endpoints).toBeNull();
    });

    test('a write of a slice', () => {
      putInFlight('endpointslice', { verb: 'update', resource: 'endpointslices', object: aSlice('s') });
      expect(dueAfter(fact.slice('s', { version: 6 }))).toEqual([]);
    });

    test('a deletion of a slice', () => {
      putInFlight('endpointslice', { verb: 'delete', resource: 'endpointslices', name: 's', uid: 'uid-s' });
      expect(dueAfter(fact.sliceGone('s'))).toEqual([]);
      expect(state.slices.size).toBe(0);
    });
  });

  describe('a deletion under the name of another object', () => {
    test('proves that the known one is deleted if a watcher has published it before', () => {
      dueAfter(fact.sliceGone('s', 'another'));
      evolve(state, aChange(3, [fact.endpointsGone('another')]), now, defaultSettings);
      expect([state.slices.size, state.endpoints]).toEqual([0, null]);
    });

    test('proves nothing if only an Outcome has reported the known one', () => {
      state.setSlice('s', { slice: aSlice('s', { version: 90 }), stamp: null });
      state.setEndpoints({ endpoints: someEndpoints({ version: 90 }), stamp: null });
      dueAfter(fact.sliceGone('s', 'another'));
      evolve(state, aChange(3, [fact.endpointsGone('another')]), now, defaultSettings);
      expect([state.slices.size, state.endpoints?.endpoints.metadata.uid]).toEqual([1, 'endpoints-uid']);
    });
  });

  test('a deletion of Endpoints that are not known is remembered', () => {
    state.setEndpoints(null);
    dueAfter(fact.endpointsGone('unknown'));
    expect(state.tombstones).toMatchObject([{ uid: 'unknown' }]);
  });

  test('a relabelled slice may come back, a deleted one may not', () => {
    dueAfter(fact.sliceElsewhere('s'));
    expect([state.slices.size, state.tombstones]).toEqual([0, []]);
  });

  test('deleted slices and Endpoints do not come back', () => {
    for (const uid of ['uid-s', 'endpoints-uid']) state.addTombstone({ uid, resourceVersion: '6' });
    state.removeSlice('s');
    state.setEndpoints(null);
    expect(dueAfter(fact.slice('s', { version: 6 }))).toEqual([]);
    evolve(state, aChange(3, [fact.endpoints({ version: 6 })]), now, defaultSettings);
    expect([state.slices.size, state.endpoints]).toEqual([0, null]);
  });
});

describe('remove service', () => {
  const stamp = { epoch: 1, sequence: 1 };
  const both: readonly Controller[] = ['endpointslice', 'endpointslicemirroring'];
  let state: ServiceState;

  /** Both controllers have written the slices `s` and `t`, which the state has. */
  beforeEach(() => {
    state = new ServiceState(key);
    for (const controller of both) {
      const tracked = ['s', 't'].reduce(
        (before, name) => endpointSliceTracker.update(before, aSlice(name)),
        state.controller(controller).trackers.tracked,
      );
      state.setController(controller, {
        ...state.controller(controller),
        retries: { ...state.controller(controller).retries, failures: 3 },
        trackers: { ...state.controller(controller).trackers, tracked },
      });
    }
    state.drainChanges();
  });

  const trackedUids = () => both.map((controller) => Object.keys(state.controller(controller).trackers.tracked));
  const failures = () => both.map((controller) => state.controller(controller).retries.failures);

  test('a deleted Service leaves nothing but its Endpoints, which every controller cleans up', () => {
    state.setService({ service: aService(), stamp });
    state.setTopology({ zoneRatios: null, nodesByZone: { a: 1 } });
    for (const name of ['p', 'q']) state.setPod(name, { pod: aPod(name), node: null, stamp });
    const work = new WorkSet(7);
    const later = { epoch: 1, sequence: 2 };
    removeService(state, later, work);
    expect(state.service).toEqual({ service: null, stamp: later });
    expect([state.topology, state.pods.size, state.orphaned]).toEqual([null, 0, true]);
    expect(trackedUids()).toEqual([[], []]);
    expect(failures()).toEqual([3, 3]);
    const due = controllers.map(
      (controller) =>
        work.applyTo(controller, state.controller(controller), { first: [], more: 0 }, defaultSettings).timers.dueAt,
    );
    expect(due).toEqual(controllers.map(() => 7));
  });

  test.each([
    ['there was none', null],
    ['it was deleted before', { service: null, stamp }],
  ])('Endpoints are not deleted with a Service if %s', (_, before) => {
    if (before !== null) state.setService(before);
    removeService(state, { epoch: 1, sequence: 2 }, new WorkSet(7));
    expect(state.orphaned).toBe(false);
  });

  test('a slice that was deleted, or is missing in a list, is not tracked any more (C19)', () => {
    expect(trackedUids().map((uids) => uids.length)).toEqual([2, 2]);
    removeTracked(state, 'uid-s');
    expect(trackedUids()).toEqual([['uid-t'], ['uid-t']]);
    handleMissing(state, 'uid-t');
    expect(trackedUids()).toEqual([[], []]);
    expect(failures()).toEqual([3, 3]);
  });

  test('nothing is stored if nothing of it is tracked', () => {
    removeTracked(state, 'uid-other');
    handleMissing(state, 'uid-other');
    expect(state.drainChanges()).toEqual([]);
    clearTracked(state);
    expect(trackedUids()).toEqual([[], []]);
    expect(failures()).toEqual([3, 3]);
    state.drainChanges();
    clearTracked(state);
    expect(state.drainChanges()).toEqual([]);
  });
});
