import type { MutationGroup } from '@sluice/model';
import { beforeEach, expect, test } from 'vitest';
import type { InFlight } from './controller-state.ts';
import type { ServiceState } from './service-state.ts';
import { given } from './testing/given.ts';
import { aSnapshot, fact } from './testing/messages.ts';
import { aService, aSlice } from './testing/objects.ts';
import { isDeletedByPlan, recordWatchEcho } from './watch-echo.ts';

const remove = (name: string, uid: string) => ({ verb: 'delete', resource: 'endpointslices', name, uid }) as const;
const groups: readonly MutationGroup[] = [
  { mutations: [{ verb: 'update', resource: 'endpointslices', object: aSlice('a') }, remove('d', 'uid-d')] },
  { mutations: [remove('e', 'uid-e'), { verb: 'create', resource: 'endpointslices', object: aSlice('b') }] },
];
let state: ServiceState;

/** A state whose plan in flight updates `a`, creates `b`, and deletes `d` and `e`. */
beforeEach(() => {
  state = given(aSnapshot(1, [{ kind: 'service', service: aService() }, fact.pod('p')])).when().state;
  const before = state.controller('endpointslice');
  if (before.inFlight === null) throw new Error('no plan');
  const inFlight: InFlight = { ...before.inFlight, message: { ...before.inFlight.message, groups } };
  state.setController('endpointslice', { ...before, inFlight });
});

const echoes = () => state.controller('endpointslice').inFlight?.watchEchoes;

test('the version of an object that the plan in flight writes is recorded', () => {
  expect(recordWatchEcho(state, 'endpointslice', 'a', '7')).toBe(true);
  expect(recordWatchEcho(state, 'endpointslice', 'b', '8')).toBe(true);
  expect(recordWatchEcho(state, 'endpointslice', 'a', '9')).toBe(true);
  expect(echoes()).toEqual({ a: '9', b: '8' });
});

test.each(['c', 'd', 'e'])('not of %s, which it does not write', (name) => {
  expect(recordWatchEcho(state, 'endpointslice', name, '7')).toBe(false);
  expect(echoes()).toEqual({});
});

test('nothing is recorded for a controller without a plan in flight', () => {
  expect(recordWatchEcho(state, 'endpointslicemirroring', 'a', '7')).toBe(false);
});

test('a deletion is expected of what the plan deletes', () => {
  const expected = (uid: string) => isDeletedByPlan(state, 'endpointslice', uid);
  expect(['uid-a', 'uid-b', 'uid-d', 'uid-e', ''].map(expected)).toEqual([false, false, true, true, false]);
  expect(isDeletedByPlan(state, 'endpointslicemirroring', 'uid-d')).toBe(false);
});
