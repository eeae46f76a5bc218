import { VirtualClock } from '@sluice/platform';
import { describe, expect, test } from 'vitest';
import { ApiError } from './api-error.ts';
import type { ClusterReader, ClusterWriter, WatchEvent } from './cluster.ts';
import type { ClusterRequest } from './cluster-request.ts';
import { checkRequests } from './middleware/check-requests.ts';
import { EarlyWatches } from './middleware/early-watches.ts';
import { IdentityGuard } from './middleware/identity-guard.ts';
import { meterRequests } from './middleware/meter-requests.ts';
import { chainReader, chainWriter, type Middleware, mapWatch, once } from './middleware.ts';
import { clusterOver, connect } from './testing/fixtures.ts';

const { signal } = new AbortController();
const object = { metadata: { name: 'web', namespace: 'shop' } };
const listOptions = { limit: 7, continueToken: 'next', onItem: () => {} };
const watchOptions = { sendInitialEvents: true };

/** Records the arguments of each call. */
function recordingCluster(calls: unknown[][]): ClusterReader & ClusterWriter {
  const record =
    <A extends unknown[], T>(verb: string, response: T) =>
    async (...args: A) => {
      // A fence adds a check to each request.
      calls.push([verb, ...args.filter((arg) => arg !== undefined && typeof arg !== 'function')]);
      return response;
    };
  const written = { name: 'web', uid: 'u', resourceVersion: '1', generation: 1 };
  return {
    watchList: true,
    identity: record('identity', 'one'),
    list: record('list', { items: [], resourceVersion: '1', continueToken: '' }),
    async *watch(...args) {
      calls.push(['watch', ...args]);
      yield [{ type: 'BOOKMARK', resourceVersion: '9' }] satisfies WatchEvent[];
    },
    get: record('get', object),
    create: record('create', written),
    update: record('update', written),
    delete: record('delete', undefined),
  };
}

/** Calls everything that a reader and a writer offer. Returns the responses by verb. */
async function callAll(reader: ClusterReader, writer: ClusterWriter): Promise<Record<string, unknown>> {
  const batches: unknown[] = [];
  for await (const batch of reader.watch('pods', '5', signal, watchOptions)) batches.push(batch);
  return {
    watch: batches,
    identity: await reader.identity(signal),
    list: await reader.list('pods', listOptions, signal),
    get: await writer.get('pods', 'shop', 'web-1', signal),
    create: await writer.create('endpoints', object, signal),
    update: await writer.update('endpoints', object, signal),
    delete: await writer.delete('endpoints', 'shop', 'web', { uid: 'u' }, signal),
  };
}

const passThrough: Middleware = (request, next) => next(request);
const clock = new VirtualClock(0);
const idle: ClusterReader = { ...recordingCluster([]), async *watch() {} };

/** Its watch of Pods has been taken over. */
async function earlyWatches(): Promise<Middleware> {
  const { middleware } = new EarlyWatches(idle, { signal, clock });
  await chainReader(idle, middleware).watch('pods', '', signal, watchOptions)[Symbol.asyncIterator]().next();
  return middleware;
}

const identityGuard = () => new IdentityGuard({ identity: 'one', cluster: idle, clock, onReplaced: () => {} });

describe('a chain offers everything that the cluster offers', () => {
  test.each<[string, () => Middleware | Promise<Middleware>]>([
    ['a pass-through middleware', () => passThrough],
    ['meterRequests', () => meterRequests(() => {})],
    ['checkRequests', () => checkRequests([{ assert() {} }, identityGuard()])],
    ['EarlyWatches', earlyWatches],
    ['IdentityGuard', () => identityGuard().middleware],
  ])('behind %s', async (_, make) => {
    const middleware = await make();
    const direct: unknown[][] = [];
    const chained: unknown[][] = [];
    const bare = recordingCluster(direct);
    const cluster = recordingCluster(chained);
    const reader = chainReader(cluster, middleware);
    const writer = chainWriter(cluster, middleware);
    expect(await callAll(reader, writer)).toEqual(await callAll(bare, bare));
    expect(chained).toEqual(direct);
    expect(reader.watchList).toBe(true);
  });

  test('and has every member of both ports', () => {
    const cluster = recordingCluster([]);
    const chain = { ...chainReader(cluster, passThrough), ...chainWriter(cluster, passThrough) };
    expect(Object.keys(chain).sort()).toEqual(Object.keys(cluster).sort());
    expect(chainReader({ ...cluster, watchList: false }, passThrough).watchList).toBe(false);
  });

  test('HttpCluster has no capability that a chain lacks', async () => {
    const { connection, clock, close } = await connect('http://127.0.0.1:1');
    const http = clusterOver(connection, clock);
    const own = ['connection', 'createEvent', 'patchEvent'];
    const names = [...Object.keys(http), ...Object.getOwnPropertyNames(Object.getPrototypeOf(http))];
    const chain = { ...chainReader(http), ...chainWriter(http) };
    expect(names.filter((name) => name !== 'constructor' && !own.includes(name)).sort()).toEqual(
      Object.keys(chain).sort(),
    );
    await close();
  });
});

test('the first middleware is the outermost', async () => {
  const order: string[] = [];
  const step =
    (name: string): Middleware =>
    async (request, next) => {
      order.push(`${name} request`);
      const response = await next(request);
      order.push(`${name} response`);
      return response;
    };
  await chainReader(recordingCluster([]), step('outer'), step('inner')).identity(signal);
  expect(order).toEqual(['outer request', 'inner request', 'inner response', 'outer response']);
});

test('a middleware may answer, change and reject requests', async () => {
  const calls: unknown[][] = [];
  const reject = new ApiError('rejected', { kind: 'terminal', status: 0, reason: 'Test' });
  const middleware: Middleware = async (request, next) => {
    if (request.verb === 'delete') throw reject;
    return next(request.verb === 'get' ? { ...request, name: 'other' } : request);
  };
  const writer = chainWriter(recordingCluster(calls), middleware);
  await writer.get('pods', 'shop', 'web', signal);
  await expect(writer.delete('endpoints', 'shop', 'web', {}, signal)).rejects.toBe(reject);
  expect(calls).toEqual([['get', 'pods', 'shop', 'other', signal]]);
});

test('mapWatch replaces the stream of a watch only', async () => {
  const seen: ClusterRequest['verb'][] = [];
  const middleware: Middleware = async (request, next) =>
    mapWatch(request, await next(request), async function* (stream) {
      seen.push(request.verb);
      yield* stream;
    });
  const cluster = recordingCluster([]);
  await callAll(chainReader(cluster, middleware), chainWriter(cluster, middleware));
  expect(seen).toEqual(['watch']);
});

describe('a chain of a writer that has an identity for each controller', () => {
  test('passes the requests of a controller through the same middleware, to its own writer', async () => {
    const calls: string[] = [];
    const writerOf = (name: string): ClusterWriter => ({
      ...recordingCluster([]),
      create: async () => {
        calls.push(name);
        return { name: 'web', uid: 'u', resourceVersion: '1', generation: 1 };
      },
    });
    const made: string[] = [];
    const forController = (controller: string) => {
      made.push(controller);
      return writerOf(controller);
    };
    const middleware: Middleware = (request, next) => {
      calls.push(request.verb);
      return next(request);
    };
    const writer = chainWriter({ ...writerOf('own'), forController }, middleware);
    await writer.forController?.('endpoints').create('endpoints', object, signal);
    await writer.forController?.('endpoints').create('endpoints', object, signal);
    await writer.create('endpoints', object, signal);
    expect(calls).toEqual(['create', 'endpoints', 'create', 'endpoints', 'create', 'own']);
    expect(made).toEqual(['endpoints']);
  });

  test('has none if the writer has none', () => {
    expect(chainWriter(recordingCluster([]), passThrough)).not.toHaveProperty('forController');
  });
});

test('what is made once per controller is made for each of them', () => {
  let made = 0;
  const make = once((controller) => `${controller} ${++made}`);
  expect([make('endpoints'), make('endpointslice'), make('endpoints')]).toEqual([
    ...['endpoints 1', 'endpointslice 2', 'endpoints 1'],
  ]);
});

test('a chain keeps the namespaces of its reader', () => {
  const namespaces = { only: ['shop'] };
  expect(chainReader({ ...recordingCluster([]), namespaces }, passThrough).namespaces).toBe(namespaces);
  expect(chainReader(recordingCluster([]), passThrough)).not.toHaveProperty('namespaces');
});

test('a watch without options has empty ones', async () => {
  const calls: unknown[][] = [];
  await chainReader(recordingCluster(calls)).watch('pods', '5', signal)[Symbol.asyncIterator]().next();
  expect(calls).toEqual([['watch', 'pods', '5', signal, {}]]);
});

test('a middleware cannot turn a request of a reader into a write', async () => {
  const writing: Middleware = (_, next) => next({ verb: 'create', resource: 'endpoints', object, signal } as never);
  await expect(async () => chainReader(recordingCluster([]), writing).identity(signal)).rejects.toThrow(TypeError);
});
