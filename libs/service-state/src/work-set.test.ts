import type { Controller } from '@sluice/model';
import { expect, test } from 'vitest';
import { type ControllerState, initialControllerState } from './controller-state.ts';
import { defaultSettings } from './settings.ts';
import { whatHappened } from './testing/messages.ts';
import { aController, type GivenParts } from './testing/objects.ts';
import { WorkSet } from './work-set.ts';

const now = 100;
const causes = whatHappened('this');

/** The state of a controller after the requests. */
function after(
  request: (work: WorkSet) => void,
  controller: Controller = 'endpointslice',
  before: GivenParts = {},
): ControllerState {
  const work = new WorkSet(now);
  request(work);
  return work.applyTo(controller, aController(before), causes, defaultSettings);
}

test('without a request a controller stays the same object', () => {
  const work = new WorkSet(now);
  work.add('endpoints');
  work.repair('endpoints');
  work.addTopology(50);
  const before = initialControllerState;
  expect(work.applyTo('endpointslicemirroring', before, causes, defaultSettings)).toBe(before);
});

test('the earliest of several requests counts, and the shortest delay', () => {
  const requests = (work: WorkSet) => {
    for (const delayMs of [30, 20, 40]) work.add('endpointslice', delayMs);
  };
  expect(after(requests)).toMatchObject({ timers: { dueAt: 120, delayedUntil: 120 } });
  expect(
    after((work) => {
      requests(work);
      work.add('endpointslice');
    }),
  ).toMatchObject({ timers: { dueAt: 100, delayedUntil: 120 } });
});

test('causes count once, however many requests there are', () => {
  const all = (work: WorkSet) => {
    work.add('endpointslice', 30);
    work.add('endpointslice');
    work.addTopology(10);
    work.repair('endpointslice');
  };
  expect(after(all).causes).toEqual(causes);
  expect(after((work) => work.addTopology(10)).causes).toEqual(causes);
  expect(after((work) => work.repair('endpointslice')).causes).toEqual(causes);
});

test('every controller can be requested', () => {
  for (const controller of ['endpoints', 'endpointslice', 'endpointslicemirroring'] as const)
    expect(after((work) => work.addAll(), controller).timers.dueAt).toBe(now);
});

test('zone ratios concern slices, at once or with a delay that an earlier request keeps', () => {
  expect(after((work) => work.addTopology(0))).toMatchObject({ timers: { dueAt: now } });
  expect(after((work) => work.addTopology(0)).timers.topologyDueAt).toBeUndefined();
  expect(after((work) => work.addTopology(50))).toMatchObject({ timers: { dueAt: null, topologyDueAt: 150 } });
  expect(
    after((work) => work.addTopology(50), 'endpointslice', { timers: { topologyDueAt: 120 } }).timers.topologyDueAt,
  ).toBe(120);
  expect(after((work) => work.addTopology(50), 'endpoints')).toEqual(initialControllerState);
});

test('requests for other controllers are ignored', () => {
  const only = (controller: Controller) =>
    after((work) => {
      work.only = new Set([controller]);
      work.add('endpointslice');
      work.addTopology(50);
      work.repair('endpointslice');
    });
  expect(only('endpoints')).toEqual(initialControllerState);
  expect(only('endpointslice')).toMatchObject({
    timers: { dueAt: now, topologyDueAt: 150 },
    repairs: { repairing: true },
  });
});

test('a repair is requested of the controller whose objects were modified', () => {
  const repair = (work: WorkSet) => work.repair('endpoints');
  expect(after(repair, 'endpoints')).toMatchObject({
    timers: { dueAt: now },
    repairs: { repairing: true, repairAt: now },
  });
  expect(after(repair, 'endpointslice')).toEqual(initialControllerState);
});
