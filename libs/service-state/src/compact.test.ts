import type { CompactionRequest, Fact } from '@sluice/messages';
import { expect, test } from 'vitest';
import { compactionExpiresAfterMs } from './evolve.ts';
import { defaultSettings } from './settings.ts';
import { given, startTime } from './testing/given.ts';
import { aChange, anOutcome, aSnapshot, fact, key } from './testing/messages.ts';
import { aService } from './testing/objects.ts';

const service: Fact = { kind: 'service', service: aService() };
const behind = { endpoints: '0', endpointslices: '0' };
const settings = { ...defaultSettings, maxEndpointsPerSlice: 2, controllers: new Set(['endpointslice'] as const) };
const request: CompactionRequest = {
  ...{ kind: 'compaction', key, reason: 'compaction requested by an operator', requestedAt: startTime },
  ...{ maxWrites: 10, onlyWorthwhile: false },
};

/** A Service with four Pods in two full slices, of which the first and the third are then deleted. */
function churned() {
  const pods = ['p1', 'p2', 'p3', 'p4'].map((name) => fact.pod(name));
  return given(aSnapshot(1, [service, ...pods], behind), { settings })
    .when()
    .thenPlans({ endpointslice: ['create', 'create'] })
    .applied()
    .and(aChange(2, [fact.podGone('p1'), fact.podGone('p3')]))
    .when()
    .thenPlans({ endpointslice: ['update', 'update'] })
    .applied();
}

const planOf = (history: ReturnType<typeof churned>) => {
  const message = history.state.controller('endpointslice').inFlight?.message;
  if (message === undefined) throw new Error('no plan');
  return message;
};

test('a request is one plan that fills one slice and then deletes the other', () => {
  const history = churned()
    .and(request)
    .when()
    .thenPlans({ endpointslice: ['update', 'delete'] });
  const plan = planOf(history);
  expect(plan.compaction).toEqual({ removed: 1, moved: 1 });
  expect(plan.causes.first).toEqual([{ description: request.reason, observedAt: startTime }]);
  // The number of ready endpoints stays, so the mass-removal guard has nothing to confirm.
  expect(plan.ready).toBeUndefined();
  expect(history.state.controller('endpointslice').trackers.counted).toMatchObject({
    slices: 1,
    desiredSlices: 1,
    endpoints: 2,
  });
  const { state } = history.applied();
  expect([...state.slices.values()].map(({ slice }) => slice.endpoints?.length)).toEqual([2]);
});

test('slices without room to merge, or too few writes, lead to no plan', () => {
  churned()
    .and({ ...request, maxWrites: 1 })
    .when()
    .thenNothing();
  churned().and(request).when().applied().and(request).when().thenNothing();
});

test('what has changed is written first, and the compaction follows', () => {
  churned()
    .and([aChange(3, [fact.pod('p2', false)]), request])
    .when()
    .thenPlans({ endpointslice: ['update'] })
    .applied()
    .when()
    .thenPlans({ endpointslice: ['update', 'delete'] });
});

test('a request that a plan in flight delays for longer than a minute is dropped', () => {
  const history = churned()
    .and([aChange(3, [fact.pod('p2', false)]), request])
    .when();
  history
    .applied(startTime + compactionExpiresAfterMs + 1)
    .when()
    .thenNothing();
});

test('a compaction that meets a conflict is not repeated: the controller decides on what it then knows', () => {
  const history = churned().and(request).when();
  const conflict = anOutcome(planOf(history), { status: 'conflict', results: [] });
  history
    .and(conflict)
    .when(startTime + 60_000)
    .thenNothing();
  expect(history.state.controller('endpointslice').requests.compaction).toBeUndefined();
});

test('a parked Service stays parked', () => {
  const history = churned()
    .and(aChange(3, [fact.pod('p2', false)]))
    .when();
  const rejected = anOutcome(planOf(history), { status: 'rejected', results: [], message: 'quota' });
  const parked = history.and(rejected).and(request);
  const {
    retries: { parked: reason },
    requests: { compaction },
  } = parked.state.controller('endpointslice');
  expect({ reason, compaction }).toEqual({ reason: 'quota', compaction: undefined });
  parked.when().thenNothing();
});

test('a disabled controller and an unknown Service compact nothing', () => {
  given(request, { settings }).when().thenNothing();
  const others = { ...settings, controllers: new Set(['endpoints'] as const) };
  const { state } = given(request, { settings: others });
  expect(state.controller('endpointslice').requests.compaction).toBeUndefined();
});
