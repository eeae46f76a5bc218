import type { Mutation } from '@sluice/controllers';
import { beforeEach, describe, expect, test } from 'vitest';
import { applyPlan } from './apply-plan.ts';
import type { Retrying } from './retrying.ts';
import { aPlan, aSlice, create, remove, someEndpoints, update } from './testing/plans.ts';
import {
  conflict,
  forbidden,
  notFound,
  ScriptedCluster,
  terminating,
  unavailable,
} from './testing/scripted-cluster.ts';

const once: Retrying = (request) => request();
const signal = new AbortController().signal;
let cluster: ScriptedCluster;

beforeEach(() => {
  cluster = new ScriptedCluster();
});

const apply = (...groups: Mutation[][]) => applyPlan(aPlan(groups), cluster, once, signal);
const stored = (name: string, given: object = {}) => {
  const slice = aSlice(name, 55);
  return {
    ...slice,
    metadata: { ...slice.metadata, generation: 3, creationTimestamp: '2026-01-01T00:00:00Z' },
    ...given,
  };
};

test('each mutation is told with what was stored, and goes with its precondition', async () => {
  const { status, results, failures, retries } = await apply([create('a'), update('b'), remove('c')]);
  expect({ status, failures, retries }).toEqual({ status: 'applied', failures: [], retries: 0 });
  expect(results).toMatchObject([
    { group: 0, index: 0, verb: 'create', name: 'a', status: 'applied', stored: { uid: 'uid-a', generation: 1 } },
    { group: 0, index: 1, verb: 'update', name: 'b', status: 'applied', stored: { resourceVersion: '102' } },
    { group: 0, index: 2, verb: 'delete', name: 'c', status: 'applied' },
  ]);
  expect(cluster.requests).toEqual(['create a', 'update b', 'delete c uid-c@7']);
});

test('the first failure ends its group; other groups go on (E13, E28)', async () => {
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

describe('an answer of the API server (B10, K7)', () => {
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
  ] as const)('means %s: %s fails with %s', async (status, request, error) => {
    cluster.fails(request, error);
    expect((await apply([create('a'), update('b'), remove('c')])).status).toBe(status);
  });

  test('that is worst counts for the whole plan', async () => {
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

  test('that is none of its own is thrown', async () => {
    cluster.fails('create a', new TypeError('a bug'));
    await expect(apply([create('a')])).rejects.toThrow('a bug');
  });

  test('that the namespace goes away skips the rest of the group, and is no failure to tell of (B10)', async () => {
    cluster.fails('create a', terminating);
    const { results, failures } = await apply([create('a'), update('b')]);
    expect(results).toHaveLength(1);
    expect(failures).toEqual([]);
  });
});

describe('a conflict carries', () => {
  test('the object as it is now', async () => {
    cluster.fails('update b', conflict);
    cluster.objects.set('b', stored('b'));
    const { results } = await apply([update('b')]);
    expect(results).toMatchObject([{ status: 'failed', current: { metadata: { name: 'b', resourceVersion: '55' } } }]);
  });

  test('null if there is none', async () => {
    cluster.fails('update b', notFound);
    expect((await apply([update('b')])).results).toMatchObject([{ status: 'failed', current: null }]);
  });

  test('nothing if that could not be learned', async () => {
    cluster.fails('update b', conflict);
    cluster.fails('get b', unavailable);
    expect((await apply([update('b')])).results[0]).not.toHaveProperty('current');
  });
});

describe('AlreadyExists', () => {
  beforeEach(() => cluster.fails('create a', conflict));

  test('of what an earlier try created is done', async () => {
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
  ])("of somebody else's, which %s, is a conflict", async (_, given) => {
    cluster.objects.set('a', stored('a', given));
    const { status, results } = await apply([create('a')]);
    expect(status).toBe('conflict');
    expect(results).toMatchObject([{ status: 'failed', current: { metadata: { name: 'a' } } }]);
  });

  test('of what is gone again is a conflict with nothing', async () => {
    expect(await apply([create('a')])).toMatchObject({ status: 'conflict', results: [{ current: null }] });
  });
});

describe('a delete', () => {
  test.each(['endpoints', 'endpointslices'] as const)('of %s that are gone is done', async (resource) => {
    cluster.fails('delete c', notFound);
    const { status, results } = await apply([remove('c', resource), update('b')]);
    expect(status).toBe('applied');
    expect(results).toMatchObject([{ verb: 'delete', status: 'applied' }, { name: 'b' }]);
  });

  test('that meets another object of the name is a conflict', async () => {
    cluster.fails('delete c', conflict);
    cluster.objects.set('c', stored('c'));
    expect((await apply([remove('c')])).status).toBe('conflict');
  });
});

test('retries are counted over all groups', async () => {
  const twice: Retrying = async (request, onRetry) => {
    onRetry?.();
    return request();
  };
  const endpoints: Mutation = { verb: 'create', resource: 'endpoints', object: someEndpoints };
  const { retries } = await applyPlan(aPlan([[create('a'), update('b')], [endpoints]]), cluster, twice, signal);
  expect(retries).toBe(3);
});
