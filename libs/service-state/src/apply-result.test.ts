import type { MutationResult } from '@sluice/messages';
import type { EndpointSlice, Mutation, MutationGroup } from '@sluice/model';
import { beforeEach, describe, expect, test } from 'vitest';
import { applyResult, isDeletedByPlan, knows, recordWatchEcho } from './apply-result.ts';
import type { InFlight } from './controller-state.ts';
import { neverStale } from './policy.ts';
import { ServiceState } from './service-state.ts';
import { given } from './testing/given.ts';
import { aSnapshot, fact, key } from './testing/messages.ts';
import { aService, aSlice, someEndpoints } from './testing/objects.ts';

describe('apply result', () => {
  const now = 1_000_000;
  const stamp = { epoch: 1, sequence: 1 };
  const addresses = [{ addresses: [{ ip: '10.0.0.1' }] }];
  const desired: EndpointSlice = { ...aSlice('s', { version: 5 }), endpoints: [{ addresses: ['10.0.0.1'] }] };
  const update: Mutation = { verb: 'update', resource: 'endpointslices', object: desired };
  const remove: Mutation = { verb: 'delete', resource: 'endpointslices', name: 's', uid: 'uid-s' };
  const updateEndpoints: Mutation = {
    ...{ verb: 'update', resource: 'endpoints' },
    object: { ...someEndpoints(), subsets: addresses },
  };
  const removeEndpoints: Mutation = { verb: 'delete', resource: 'endpoints', name: 'web', uid: 'endpoints-uid' };
  let state: ServiceState;

  /** A watcher has published the slice `s` and the Endpoints in version 5, and everything up to version 10. */
  beforeEach(() => {
    state = new ServiceState(key);
    state.setSlice('s', { slice: aSlice('s', { version: 5 }), stamp });
    state.setEndpoints({ endpoints: someEndpoints({ version: 5 }), stamp });
    state.setSnapshot({ ...state.snapshot, resourceVersions: { endpoints: '10', endpointslices: '10' } });
  });

  /** The result of the only mutation of the plan in flight. */
  function apply(mutation: Mutation, given: Partial<MutationResult>): void {
    const groups: readonly MutationGroup[] = [{ mutations: [mutation] }];
    const name = mutation.verb === 'delete' ? mutation.name : mutation.object.metadata.name;
    const { verb, resource } = mutation;
    const result: MutationResult = { ...{ group: 0, index: 0, verb, resource, name, status: 'applied' }, ...given };
    applyResult(state, { message: { groups } } as unknown as InFlight, result, now, neverStale);
  }

  const stored = (version: number, uid = 'uid-s') => ({
    stored: { uid, resourceVersion: `${version}`, generation: 2 },
  });
  const versionOf = () => state.slices.get('s')?.slice.metadata.resourceVersion;
  const uids = () => state.tombstones.map(({ uid }) => uid);
  const endpointsVersion = () => state.endpoints?.endpoints.metadata.resourceVersion;

  describe('a stored slice', () => {
    test('replaces the known one and keeps the stamp of its watcher', () => {
      apply(update, stored(6));
      expect(state.slices.get('s')).toMatchObject({ slice: { endpoints: desired.endpoints }, stamp });
      expect(versionOf()).toBe('6');
    });

    test('has no stamp if it is another object of that name', () => {
      apply(update, stored(6, 'another'));
      expect(state.slices.get('s')).toMatchObject({ slice: { metadata: { uid: 'another' } }, stamp: null });
    });

    test('replaces the known one in the same version with the same content, so that the next decision recognizes it', () => {
      state.setSlice('s', { slice: structuredClone(desired), stamp });
      apply(update, stored(5));
      expect(state.slices.get('s')?.slice.endpoints).toBe(desired.endpoints);
    });

    test('does not replace what a mutating webhook made of it, which the watch delivered in the same version', () => {
      apply(update, stored(5));
      expect(state.slices.get('s')?.slice.endpoints).toEqual([]);
    });

    test('does not replace a newer one', () => {
      apply(update, stored(4));
      expect([versionOf(), state.slices.get('s')?.slice.endpoints]).toEqual(['5', []]);
    });

    test.each([
      [10, undefined],
      [11, '11'],
    ])('that is not known and has version %i, where 10 is published, gives %s', (version, expected) => {
      state.removeSlice('s');
      apply(update, stored(version));
      expect(versionOf()).toBe(expected);
    });

    test('that was deleted meanwhile does not come back', () => {
      state.removeSlice('s');
      state.addTombstone({ uid: 'uid-s', resourceVersion: '10' });
      apply(update, stored(11));
      expect(state.slices.size).toBe(0);
    });
  });

  describe('stored Endpoints', () => {
    test.each([
      [4, '5', undefined],
      // The watch delivered what a mutating webhook made of this version.
      [5, '5', undefined],
      [6, '6', addresses],
    ])('in version %i, where 5 is known, give %s', (version, expected, subsets) => {
      apply(updateEndpoints, stored(version, 'endpoints-uid'));
      expect(endpointsVersion()).toBe(expected);
      expect(state.endpoints?.endpoints.subsets).toEqual(subsets ?? []);
      expect(state.endpoints?.stamp).toEqual(stamp);
    });

    test('are another object if their uid differs', () => {
      apply(updateEndpoints, stored(6, 'another'));
      expect(state.endpoints).toMatchObject({ endpoints: { metadata: { uid: 'another' } }, stamp: null });
    });

    test.each([
      [10, undefined],
      [11, '11'],
    ])('that are not known and have version %i, where 10 is published, give %s', (version, expected) => {
      state.setEndpoints(null);
      apply(updateEndpoints, stored(version, 'endpoints-uid'));
      expect(endpointsVersion()).toBe(expected);
    });
  });

  describe('a deletion', () => {
    test('removes the slice, which a late event does not bring back', () => {
      apply(remove, {});
      expect([state.slices.size, state.tombstones]).toEqual([0, [{ uid: 'uid-s', reportedAt: now }]]);
      expect(state.endpoints).not.toBeNull();
    });

    test('leaves another slice of that name', () => {
      state.setSlice('s', { slice: aSlice('s', { uid: 'another' }), stamp });
      apply(remove, {});
      expect([state.slices.size, uids()]).toEqual([1, ['uid-s']]);
    });

    test('of Endpoints ends their removal with the Service', () => {
      state.setOrphaned(true);
      apply(removeEndpoints, {});
      expect([state.endpoints, state.orphaned, uids()]).toEqual([null, false, ['endpoints-uid']]);
      expect(state.slices.size).toBe(1);
    });

    test('leaves other Endpoints of that name, which a user has created', () => {
      state.setOrphaned(true);
      state.setEndpoints({ endpoints: someEndpoints({ uid: 'another' }), stamp });
      apply(removeEndpoints, {});
      expect([state.endpoints === null, state.orphaned]).toEqual([false, false]);
    });
  });

  describe('a deletion that finalizers hold back', () => {
    const deletionTimestamp = '2026-01-02T00:00:00Z';
    const terminating = <T extends { readonly metadata: object }>(object: T): T => ({
      ...object,
      metadata: { ...object.metadata, resourceVersion: '6', deletionTimestamp },
    });

    test('leaves the slice, as one that is being deleted', () => {
      apply(remove, { current: terminating(aSlice('s')) });
      expect(state.slices.get('s')).toMatchObject({ slice: { metadata: { deletionTimestamp } }, stamp });
      expect(state.tombstones).toEqual([]);
    });

    test('does not bring back a slice that the watch has reported as gone since', () => {
      state.removeSlice('s');
      state.addTombstone({ uid: 'uid-s', resourceVersion: '11' });
      apply(remove, { current: terminating(aSlice('s')) });
      expect(state.slices.size).toBe(0);
    });

    test('of Endpoints leaves them, and does not delete those that a user creates after them', () => {
      state.setOrphaned(true);
      apply(removeEndpoints, { current: terminating(someEndpoints()) });
      expect(state.endpoints).toMatchObject({ endpoints: { metadata: { deletionTimestamp } } });
      expect([state.orphaned, state.tombstones]).toEqual([false, []]);
    });
  });

  describe('a failure', () => {
    const failed = { status: 'failed' } as const;

    test('without the current object changes nothing', () => {
      state.drainChanges();
      apply(update, failed);
      apply(remove, failed);
      expect(state.drainChanges()).toEqual([]);
    });

    test.each<[string, Mutation]>([
      ['update', update],
      ['deletion', remove],
    ])('of the %s of a slice that does not exist removes it', (_, mutation) => {
      apply(mutation, { ...failed, current: null });
      expect([state.slices.size, uids()]).toEqual([0, ['uid-s']]);
      expect(state.endpoints).not.toBeNull();
    });

    test.each<[string, Mutation]>([
      ['update', updateEndpoints],
      ['deletion', removeEndpoints],
    ])('of the %s of Endpoints that do not exist removes them', (_, mutation) => {
      apply(mutation, { ...failed, current: null });
      expect([state.endpoints, uids()]).toEqual([null, ['endpoints-uid']]);
      expect(state.slices.size).toBe(1);
    });

    test('leaves another object of that name', () => {
      state.setSlice('s', { slice: aSlice('s', { uid: 'another' }), stamp });
      state.setEndpoints({ endpoints: someEndpoints({ uid: 'another' }), stamp });
      apply(update, { ...failed, current: null });
      apply(updateEndpoints, { ...failed, current: null });
      expect([state.slices.size, state.endpoints === null]).toEqual([1, false]);
    });
  });

  describe.each<[string, Partial<MutationResult>]>([
    ['that a failure reports', { status: 'failed' }],
    ['that was read back', { status: 'applied' }],
  ])('the current object %s', (_, given) => {
    test('replaces the known one if it is newer', () => {
      for (const [version, expected] of [
        [4, '5'],
        [5, '5'],
        [6, '6'],
      ] as const) {
        apply(update, { ...given, current: aSlice('s', { version }) });
        apply(updateEndpoints, { ...given, current: someEndpoints({ version }) });
        expect([versionOf(), endpointsVersion()]).toEqual([expected, expected]);
      }
      expect([state.slices.get('s')?.stamp, state.endpoints?.stamp]).toEqual([stamp, stamp]);
    });

    test('has no stamp if it is another object', () => {
      apply(update, { ...given, current: aSlice('s', { version: 6, uid: 'another' }) });
      apply(updateEndpoints, { ...given, current: someEndpoints({ version: 6, uid: 'another' }) });
      expect([state.slices.get('s')?.stamp, state.endpoints?.stamp]).toEqual([null, null]);
    });

    test('of another Service is removed once the watcher has published it', () => {
      const elsewhere = (version: number) => {
        const slice = aSlice('s', { version });
        const labels = { ...slice.metadata.labels, 'kubernetes.io/service-name': 'db' };
        return { ...slice, metadata: { ...slice.metadata, labels } };
      };
      apply(update, { ...given, current: elsewhere(11) });
      expect(versionOf(), 'not published yet').toBe('11');
      apply(update, { ...given, current: elsewhere(10) });
      expect(versionOf(), 'published').toBeUndefined();
      apply(update, { ...given, current: elsewhere(12) });
      expect(versionOf(), 'not known').toBeUndefined();
    });
  });

  test('a result of a mutation that the plan does not have is ignored', () => {
    state.drainChanges();
    apply(update, { ...stored(6), index: 1 });
    apply(update, { ...stored(6), group: 1 });
    expect(state.drainChanges()).toEqual([]);
  });

  test('a state knows the objects that it has', () => {
    const about = (resource: 'endpoints' | 'endpointslices', name: string) =>
      knows(state, { group: 0, index: 0, verb: 'update', resource, name, status: 'applied' });
    expect([about('endpointslices', 's'), about('endpointslices', 't'), about('endpoints', 's')]).toEqual([
      true,
      false,
      true,
    ]);
    state.setEndpoints(null);
    expect(about('endpoints', 's')).toBe(false);
  });
});

describe('watch echo', () => {
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
});
