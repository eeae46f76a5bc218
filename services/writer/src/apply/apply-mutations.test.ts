import type { Mutation } from '@sluice/model';
import { beforeEach, describe, expect, test } from 'vitest';
import { aPlan, aSlice, create, remove, update } from '../testing/plans.ts';
import {
  conflict,
  forbidden,
  notFound,
  ScriptedCluster,
  terminating,
  unavailable,
} from '../testing/scripted-cluster.ts';
import { applyMutations } from './apply-mutations.ts';

const signal = new AbortController().signal;
let cluster: ScriptedCluster;

beforeEach(() => {
  cluster = new ScriptedCluster();
});

const apply = (...groups: Mutation[][]) => applyMutations(aPlan(groups), cluster, signal);
const stored = (name: string, given: object = {}) => {
  const slice = aSlice(name, 55);
  return {
    ...slice,
    metadata: { ...slice.metadata, generation: 3, creationTimestamp: '2026-01-01T00:00:00Z' },
    ...given,
  };
};

test('returns what was stored for each mutation and sends its precondition', async () => {
  const { status, results, failures } = await apply([create('a'), update('b'), remove('c')]);
  expect({ status, failures }).toEqual({ status: 'applied', failures: [] });
  expect(results).toMatchObject([
    { group: 0, index: 0, verb: 'create', name: 'a', status: 'applied', stored: { uid: 'uid-a', generation: 1 } },
    { group: 0, index: 1, verb: 'update', name: 'b', status: 'applied', stored: { resourceVersion: '102' } },
    { group: 0, index: 2, verb: 'delete', name: 'c', status: 'applied' },
  ]);
  expect(cluster.requests).toEqual(['create a', 'update b', 'get c', 'delete c uid-c@7']);
});

test('a deletion that a finalizer holds back is applied, and the object is reported as it is', async () => {
  const slice = stored('web-x7k2p');
  const deletionTimestamp = '2026-01-02T00:00:00Z';
  cluster.held.set('web-x7k2p', { ...slice, metadata: { ...slice.metadata, finalizers: ['a/b'], deletionTimestamp } });
  const { status, results } = await apply([remove('web-x7k2p')]);
  expect(status).toBe('applied');
  expect(results[0]).toMatchObject({ status: 'applied', current: { metadata: { deletionTimestamp } } });
});

test('what nobody can decode of such an object is not reported', async () => {
  cluster.held.set('web-x7k2p', { metadata: { name: 'web-x7k2p', deletionTimestamp: 7 } });
  const { status, results } = await apply([remove('web-x7k2p')]);
  expect(status).toBe('applied');
  expect(results[0]?.current).toBeUndefined();
});

describe('before a slice is deleted whose name is not one of the Service', () => {
  const named = (name: string, service: string) =>
    stored(name, { metadata: { ...stored(name).metadata, labels: { 'kubernetes.io/service-name': service } } });

  test('its label is read, and a slice of another Service stays', async () => {
    cluster.objects.set('web-db-x7k2p', named('web-db-x7k2p', 'web-db'));
    const { status, results } = await apply([remove('web-db-x7k2p')]);
    expect(status).toBe('conflict');
    expect(results[0]).toMatchObject({ status: 'failed', current: { metadata: { name: 'web-db-x7k2p' } } });
    expect(cluster.requests).toEqual(['get web-db-x7k2p']);
  });

  test('its own custom slice is deleted', async () => {
    cluster.objects.set('custom', named('custom', 'web'));
    expect((await apply([remove('custom')])).status).toBe('applied');
    expect(cluster.requests).toEqual(['get custom', 'delete custom uid-custom@7']);
  });

  test('a generated name needs no read', async () => {
    expect((await apply([remove('web-x7k2p')])).status).toBe('applied');
    expect(cluster.requests).toEqual(['delete web-x7k2p uid-web-x7k2p@7']);
  });
});

test('the first failure stops its group; other groups continue (E13, E28)', async () => {
  cluster.fails('update b', forbidden);
  const { status, results, failures } = await apply(
    [create('a'), update('b'), remove('c')],
    [create('d'), update('e')],
  );
  expect(status).toBe('rejected');
  expect(results.map(({ name, status: of }) => `${name} ${of}`)).toEqual([
    'a applied',
    'b failed',
    'd applied',
    'e applied',
  ]);
  expect(failures).toMatchObject([{ mutation: { verb: 'update' }, message: 'terminal 403' }]);
});

describe('a response of the API server (B10, K7)', () => {
  test.each([
    ['unavailable', 'update b', unavailable],
    ['rejected', 'update b', forbidden],
    ['conflict', 'update b', conflict],
    ['conflict', 'update b', notFound],
    ['conflict', 'create a', conflict],
    ['namespaceTerminating', 'create a', terminating],
    ['rejected', 'update b', terminating],
    ['rejected', 'delete c', terminating],
    ['unavailable', 'delete c', unavailable],
  ] as const)('maps to %s: %s fails with %s', async (status, request, error) => {
    cluster.fails(request, error);
    expect((await apply([create('a'), update('b'), remove('c')])).status).toBe(status);
  });

  test('with the worst status decides for the whole plan', async () => {
    cluster.fails('create a', terminating);
    cluster.fails('create b', conflict);
    expect((await apply([create('a')], [create('b')])).status).toBe('conflict');
    cluster.fails('create a', conflict);
    cluster.fails('create b', unavailable);
    expect((await apply([create('a')], [create('b')])).status).toBe('unavailable');
    cluster.fails('create a', unavailable);
    cluster.fails('create b', forbidden);
    expect((await apply([create('a')], [create('b')])).status).toBe('rejected');
  });

  test('is rethrown if it is not an API error', async () => {
    cluster.fails('create a', new TypeError('bug'));
    await expect(apply([create('a')])).rejects.toThrow('bug');
  });

  test('that the namespace is terminating skips the rest of the group and is not reported as a failure (B10)', async () => {
    cluster.fails('create a', terminating);
    const { results, failures } = await apply([create('a'), update('b')]);
    expect(results).toHaveLength(1);
    expect(failures).toEqual([]);
  });
});

describe('a conflict carries', () => {
  test('the current object', async () => {
    cluster.fails('update b', conflict);
    cluster.objects.set('b', stored('b'));
    const { results } = await apply([update('b')]);
    expect(results).toMatchObject([{ status: 'failed', current: { metadata: { name: 'b', resourceVersion: '55' } } }]);
  });

  test('null if the object does not exist', async () => {
    cluster.fails('update b', notFound);
    expect((await apply([update('b')])).results).toMatchObject([{ status: 'failed', current: null }]);
  });

  test('nothing if the object could not be read', async () => {
    cluster.fails('update b', conflict);
    cluster.fails('get b', unavailable);
    expect((await apply([update('b')])).results[0]).not.toHaveProperty('current');
  });
});

describe('AlreadyExists', () => {
  beforeEach(() => cluster.fails('create a', conflict));

  test('of an object created by an earlier attempt counts as success', async () => {
    cluster.objects.set('a', stored('a'));
    const { status, results } = await apply([create('a'), update('b')]);
    expect(status).toBe('applied');
    expect(results).toMatchObject([
      {
        name: 'a',
        status: 'applied',
        stored: { uid: 'uid-a', resourceVersion: '55', generation: 3 },
        current: { metadata: { name: 'a' } },
      },
      { name: 'b', status: 'applied' },
    ]);
  });

  test.each([
    ['has other endpoints', { endpoints: [] }],
    ['has other ports', { ports: [] }],
    ['has other labels', { metadata: { ...stored('a').metadata, labels: {} } }],
    ['is being deleted', { metadata: { ...stored('a').metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }],
  ])('of a different object, which %s, is a conflict', async (_, given) => {
    cluster.objects.set('a', stored('a', given));
    const { status, results } = await apply([create('a')]);
    expect(status).toBe('conflict');
    expect(results).toMatchObject([{ status: 'failed', current: { metadata: { name: 'a' } } }]);
  });

  test('of an object deleted since is a conflict without an object', async () => {
    expect(await apply([create('a')])).toMatchObject({ status: 'conflict', results: [{ current: null }] });
  });
});

describe('a delete', () => {
  test.each(['endpoints', 'endpointslices'] as const)(
    'of %s that no longer exist counts as success (B10)',
    async (resource) => {
      cluster.fails('delete c', notFound);
      const { status, results } = await apply([remove('c', resource), update('b')]);
      expect(status).toBe('applied');
      expect(results).toMatchObject([{ verb: 'delete', status: 'applied' }, { name: 'b' }]);
    },
  );

  test('of an object with another UID is a conflict', async () => {
    cluster.fails('delete c', conflict);
    cluster.objects.set('c', stored('c'));
    expect((await apply([remove('c')])).status).toBe('conflict');
  });
});
