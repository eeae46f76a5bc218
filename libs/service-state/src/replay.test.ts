import type { Fact } from '@sluice/messages';
import { expect, test } from 'vitest';
import { evolve, initialState, type ServiceMessage } from './evolve.ts';
import { defaultSettings } from './settings.ts';
import { given, startTime } from './testing/given.ts';
import { aChange, anOutcome, aSnapshot, fact, key } from './testing/messages.ts';
import { aService } from './testing/objects.ts';

const service: Fact = { kind: 'service', service: aService() };
const behind = { endpoints: '9', endpointslices: '9' };

/** The messages of a run, as the log keeps them: Changes, plans and Outcomes in their order. */
function recordedHistory(): readonly ServiceMessage[] {
  const snapshot = aSnapshot(1, [service, fact.pod('p')], behind);
  const first = given(snapshot).when();
  const plans = [first.plan('endpointslice'), first.plan('endpoints')];
  const scaled = aChange(2, [fact.pod('q')]);
  const second = first.applied().and(scaled).when();
  const update = second.plan('endpointslice');
  return [snapshot, ...plans, ...plans.map((plan) => anOutcome(plan)), scaled, update];
}

test('a Service’s history can be replayed: read its records in their order, and decide', () => {
  const history = recordedHistory();
  const replayed = given(history);
  expect([...replayed.state.pods.keys()]).toEqual(['p', 'q']);
  expect(replayed.state.controller('endpointslice').inFlight?.message).toBe(history.at(-1));
  // The recorded plan is in flight, so only the Endpoints controller, whose second plan is not in the history, decides.
  replayed.when().thenPlans({ endpoints: ['update'] });
});

test('the same messages at the same times give the same state', () => {
  const history = recordedHistory();
  const [once, again] = [0, 1].map(() => {
    const state = initialState(key);
    for (const message of history) evolve(state, message, startTime, defaultSettings);
    return state.drainChanges();
  });
  expect(again).toEqual(once);
});

test('a Change or Outcome that was applied before changes nothing', () => {
  const history = recordedHistory();
  const { state } = given(history);
  state.drainChanges();
  for (const message of history) {
    if (message.kind !== 'mutations') evolve(state, message, startTime, defaultSettings);
  }
  expect(state.drainChanges()).toEqual([]);
});

test('a copy evolves apart from its original', () => {
  const original = given(aSnapshot(1, [service, fact.pod('p')])).state;
  const copy = original.copy();
  evolve(copy, aChange(2, [fact.podGone('p')]), startTime, defaultSettings);
  expect([original.pods.size, copy.pods.size]).toEqual([1, 0]);
});
