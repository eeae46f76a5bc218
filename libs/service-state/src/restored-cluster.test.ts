import type { Change, Fact, PlannedMutations } from '@sluice/messages';
import type { EndpointSlice, Mutation } from '@sluice/model';
import { describe, expect, test } from 'vitest';
import { evolve } from './evolve.ts';
import { proofOfRestore, proofOfRestoreByOutcome } from './restored-cluster.ts';
import { ServiceState } from './service-state.ts';
import { defaultSettings as settings } from './settings.ts';
import { aChange, anOutcome, aSnapshot, fact, key } from './testing/messages.ts';
import { aService, aSlice } from './testing/objects.ts';

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

/** A state that knows the slice `s` of version 60 and generation 4. */
function stateWithSlice(): ServiceState {
  const state = new ServiceState(key);
  evolve(state, aSnapshot(1, [service, sliceFact(60, 4)], { initial: true }), 0, settings);
  return state;
}

function sliceFact(version: number, generation: number, given: Parameters<typeof fact.slice>[1] = {}): Fact {
  const found = fact.slice('s', { version, ...given });
  if (found.kind !== 'slice' || found.slice === null) throw new Error('no slice');
  return { ...found, slice: { ...found.slice, metadata: { ...found.slice.metadata, generation } } };
}

describe('a restore from a backup is proven by a slice', () => {
  const listed = (facts: readonly Fact[], endpointslices = '1000') => aSnapshot([2, 1], facts, { endpointslices });

  test.each([
    ['after the write', '1000'],
    ['at the version of the write', '60'],
  ])('that is listed in an older version and generation, %s', (_, at) => {
    expect(proofOfRestore(stateWithSlice(), listed([service, sliceFact(50, 3)], at))).toBe(
      `slice s was listed at ${at} in version 50 after 60`,
    );
  });

  test('that is listed in an older version of the same generation: its metadata had changed', () => {
    expect(proofOfRestore(stateWithSlice(), listed([service, sliceFact(50, 4)]))).toContain('in version 50 after 60');
  });

  test('in a Change of a snapshot that is open', () => {
    const state = stateWithSlice();
    const resourceVersions = { endpoints: '9', endpointslices: '900' };
    const begin = aChange(2, [service], {
      snapshot: { first: true, last: false, initial: false, resourceVersions },
      resourceVersions,
    });
    evolve(state, begin, 0, settings);
    expect(proofOfRestore(state, aChange(3, [sliceFact(50, 3)]))).toContain('listed at 900');
  });

  test.each<[string, Change]>([
    ['a list from before the write', listed([sliceFact(50, 3)], '59')],
    ['a late event of an earlier version', aChange(2, [sliceFact(50, 3)])],
    ['the version that was written', listed([sliceFact(60, 4)])],
    ['a newer version', listed([sliceFact(70, 5)])],
    ['a slice that was created again', listed([sliceFact(50, 3, { uid: 'another' })])],
    ['a slice that is not known', listed([fact.slice('t', { version: 50 })])],
    ['its absence', listed([service, fact.sliceGone('s')])],
    ['a Change that was applied before', aSnapshot(1, [sliceFact(50, 3)], { endpointslices: '1000' })],
  ])('not by %s', (_, change) => {
    expect(proofOfRestore(stateWithSlice(), change)).toBeUndefined();
  });

  test('not by a slice that none of the controllers manages', () => {
    const state = new ServiceState(key);
    const foreign = { manager: 'someone-else' };
    evolve(state, aSnapshot(1, [service, sliceFact(60, 4, foreign)], { initial: true }), 0, settings);
    expect(proofOfRestore(state, listed([sliceFact(50, 3, foreign)]))).toBeUndefined();
  });
});

test('an object that was deleted and is restored comes back if messages were lost', () => {
  const state = new ServiceState(key);
  evolve(state, aSnapshot(1, [service, fact.slice('web-1')], { initial: true }), 0, settings);
  evolve(state, aChange(2, [fact.sliceGone('web-1')]), 0, settings);
  evolve(state, aSnapshot(3, [service, fact.slice('web-1')]), 0, settings);
  expect([...state.slices.keys()], 'a late event').toEqual([]);
  evolve(state, { kind: 'messagesLost' }, 0, settings);
  evolve(state, aSnapshot(4, [service, fact.slice('web-1')]), 0, settings);
  expect([...state.slices.keys()], 'a snapshot after a loss').toEqual(['web-1']);
});

describe('a restore from a backup is proven by an Outcome', () => {
  const decidedOn = { ...aSlice('s', { version: 60 }) };
  const update: Mutation = { verb: 'update', resource: 'endpointslices', object: decidedOn };
  const remove: Mutation = {
    verb: 'delete',
    resource: 'endpointslices',
    name: 's',
    uid: 'uid-s',
    resourceVersion: '60',
  };
  const create: Mutation = { verb: 'create', resource: 'endpointslices', object: decidedOn };

  function proofOf(mutation: Mutation, current: EndpointSlice | null | undefined): string | undefined {
    const state = new ServiceState(key);
    const plan = { key, controller: 'endpointslice', plan: { epoch: 1, number: 1 }, decidedAt: 0 };
    const message = { ...plan, groups: [{ mutations: [mutation] }] } as unknown as PlannedMutations;
    const inFlight = {
      message,
      triggersAfter: null,
      hintsAfter: null,
      watchEchoes: {},
      redeliverAt: 0,
      redeliveries: 0,
    };
    state.setController('endpointslice', { ...state.controller('endpointslice'), inFlight });
    const { verb, resource } = mutation;
    const result = { group: 0, index: 0, verb, resource, name: 's', status: 'failed' as const };
    const results = [{ ...result, ...(current !== undefined && { current }) }];
    return proofOfRestoreByOutcome(state, { ...anOutcome({ ...message, groups: [] }), results });
  }

  test.each<[string, Mutation]>([
    ['an update', update],
    ['a deletion', remove],
  ])('of %s that finds the object in an older version than it was decided on', (_, mutation) => {
    expect(proofOf(mutation, aSlice('s', { version: 50 }))).toBe('endpointslices s was read in version 50 after 60');
  });

  test.each<[string, Mutation, EndpointSlice | null | undefined]>([
    ['a newer version', update, aSlice('s', { version: 61 })],
    ['the same version', update, aSlice('s', { version: 60 })],
    ['another object of that name', update, aSlice('s', { version: 50, uid: 'another' })],
    ['no object', update, null],
    ['an object that could not be read', update, undefined],
    ['an object in place of one to be created', create, aSlice('s', { version: 50 })],
  ])('not by %s', (_, mutation, current) => {
    expect(proofOf(mutation, current)).toBeUndefined();
  });
});
