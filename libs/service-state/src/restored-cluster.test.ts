import { describe, expect, test } from 'vitest';
import { evolve } from './evolve.ts';
import { invalidate } from './invalidate.ts';
import { proofOfRestore } from './restored-cluster.ts';
import { ServiceState } from './service-state.ts';
import { defaultSettings as settings } from './settings.ts';
import { aChange, aSnapshot, fact, key } from './testing/messages.ts';
import { aService } from './testing/objects.ts';

const service = { kind: 'service' as const, service: aService() };

/** Endpoints of this version, as the watcher has them. */
const endpoints = (resourceVersion: number, uid = 'e') => fact.endpoints({ version: resourceVersion, uid });

/** A state that knows Endpoints of version 60. */
function stateWithEndpoints(): ServiceState {
  const state = new ServiceState(key);
  evolve(state, aSnapshot(1, [service, endpoints(60)], { initial: true }), 0, settings);
  return state;
}

describe('a restore from a backup is proven by Endpoints', () => {
  test('that are listed in an older version than one that was written before the list', () => {
    const change = aSnapshot([2, 1], [service, endpoints(50)], { endpoints: '1000', initial: true });
    expect(proofOfRestore(stateWithEndpoints(), change)).toBe('Endpoints were listed at 1000 in version 50 after 60');
  });

  test.each([
    ['a list from before the write', aSnapshot([2, 1], [endpoints(50)], { endpoints: '59' })],
    ['a late event of an earlier version', aChange(2, [endpoints(50)])],
    ['the version that was written', aSnapshot([2, 1], [endpoints(60)], { endpoints: '1000' })],
    ['Endpoints that were created again', aSnapshot([2, 1], [endpoints(50, 'another')], { endpoints: '1000' })],
    ['their absence', aSnapshot([2, 1], [service], { endpoints: '1000' })],
  ])('not by %s', (_, change) => {
    expect(proofOfRestore(stateWithEndpoints(), change)).toBeUndefined();
  });
});

test('an object that was deleted and is restored comes back if messages were lost', () => {
  const state = new ServiceState(key);
  evolve(state, aSnapshot(1, [service, fact.slice('web-1')], { initial: true }), 0, settings);
  evolve(state, aChange(2, [fact.sliceGone('web-1')]), 0, settings);
  evolve(state, aSnapshot(3, [service, fact.slice('web-1')]), 0, settings);
  expect([...state.slices.keys()], 'a late event').toEqual([]);
  invalidate(state, 0);
  evolve(state, aSnapshot(4, [service, fact.slice('web-1')]), 0, settings);
  expect([...state.slices.keys()], 'a snapshot after a loss').toEqual(['web-1']);
});
