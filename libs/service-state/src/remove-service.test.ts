import { controllers, endpointSliceTracker } from '@sluice/controllers';
import type { Controller } from '@sluice/model';
import { beforeEach, expect, test } from 'vitest';
import { clearTracked, handleMissing, removeService, removeTracked } from './remove-service.ts';
import { ServiceState } from './service-state.ts';
import { defaultSettings } from './settings.ts';
import { key } from './testing/messages.ts';
import { aPod, aService, aSlice } from './testing/objects.ts';
import { WorkSet } from './work-set.ts';

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
