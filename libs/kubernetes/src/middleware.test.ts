import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EndpointSlice } from '@sluice/model';
import { VirtualClock } from '@sluice/platform';
import { afterEach, describe, expect, test } from 'vitest';
import { ApiError } from './api-error.ts';
import type { ClusterReader, ClusterWriter, WatchEvent } from './cluster.ts';
import type { ConnectionOptions } from './connection.ts';
import { EarlyWatches } from './middleware/early-watches.ts';
import { IdentityGuard } from './middleware/identity-guard.ts';
import {
  type ClusterRequest,
  chainReader,
  chainWriter,
  checkRequests,
  type Middleware,
  mapWatch,
  meterRequests,
  once,
  type RequestCheck,
} from './middleware.ts';
import { clusterOver, connect, json, noAbort, startServer } from './testing/fixtures.ts';

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

describe('check requests', () => {
  class LeaseExpiredError extends Error {}

  const slice: EndpointSlice = {
    metadata: { namespace: 'shop', name: 'web-x7k2p', resourceVersion: '1' },
    addressType: 'IPv4',
    endpoints: [],
  };
  const cleanUps: (() => Promise<unknown>)[] = [];

  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  });

  /** A server that holds its answer to `/held`, and a writer whose lease expires on demand. */
  async function fenced(user: object, options: Partial<ConnectionOptions>) {
    const held = Promise.withResolvers<void>();
    const server = await startServer((request, response) => {
      const stored = { metadata: { name: 'web-x7k2p', uid: 'u', resourceVersion: '2' } };
      void (request.url === '/held' ? held.promise : Promise.resolve()).then(() => json(response, 200, stored));
    });
    const { connection, clock, close } = await connect(server.url, user, options);
    cleanUps.push(server.close, close);
    let [isCurrent, checks] = [true, 0];
    const lease: RequestCheck = {
      assert() {
        checks++;
        if (!isCurrent) throw new LeaseExpiredError();
      },
    };
    const writer = chainWriter(clusterOver(connection, clock), checkRequests([lease]));
    const write = () => writer.update('endpointslices', slice, noAbort).catch((error: unknown) => error);
    const expire = async () => {
      await expect.poll(() => checks).toBe(1);
      isCurrent = false;
    };
    return { server, connection, write, expire, answerHeld: held.resolve };
  }

  test('a write that waits for a free connection is not sent under an expired lease', async () => {
    const { server, connection, write, expire, answerHeld } = await fenced({}, { maxConnections: 1 });
    const first = connection.request({ method: 'GET', path: '/held', signal: noAbort });
    await expect.poll(() => server.requests.length).toBe(1);
    const writing = write();
    await expire();
    answerHeld();
    await first;
    expect(await writing).toBeInstanceOf(LeaseExpiredError);
    expect(server.requests.map(({ method }) => method)).toEqual(['GET']);
  });

  test('a write that waits for an exec credential is not sent under an expired lease', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'sluice-fence-'));
    cleanUps.push(() => rm(directory, { recursive: true }));
    const [plugin, go] = [join(directory, 'plugin'), join(directory, 'go')];
    const apiVersion = 'client.authentication.k8s.io/v1';
    const credential = JSON.stringify({ apiVersion, kind: 'ExecCredential', status: { token: 't' } });
    await writeFile(plugin, `#!/bin/sh\nwhile [ ! -e '${go}' ]; do sleep 0.05; done\necho '${credential}'\n`);
    await chmod(plugin, 0o700);
    const { server, write, expire } = await fenced(
      { exec: { apiVersion, command: plugin, interactiveMode: 'Never' } },
      {},
    );
    const writing = write();
    await expire();
    await writeFile(go, '');
    expect(await writing).toBeInstanceOf(LeaseExpiredError);
    expect(server.requests).toEqual([]);
  });

  test('a request is queued only while the lease is current', async () => {
    let sent = 0;
    let isCurrent = true;
    const check = checkRequests([
      {
        assert() {
          if (!isCurrent) throw new LeaseExpiredError();
        },
      },
    ]);
    const send = () =>
      check({ verb: 'identity', signal: noAbort }, async () => {
        sent += 1;
        return 'one' as never;
      });
    expect(await send()).toBe('one');
    isCurrent = false;
    await expect(send()).rejects.toThrow(LeaseExpiredError);
    expect(sent).toBe(1);
  });

  test('the first check that says no decides, before the next one asks a server', async () => {
    const asked: string[] = [];
    const check = (name: string, error?: Error): RequestCheck => ({
      verify: async () => void asked.push(`verify ${name}`),
      assert() {
        asked.push(`assert ${name}`);
        if (error !== undefined) throw error;
      },
      failed: () => asked.push(`failed ${name}`),
    });
    const send = async () => undefined as never;
    const request = { verb: 'identity', signal: noAbort } as const;
    await checkRequests([check('a'), check('b')])(request, send);
    expect(asked).toEqual(['verify a', 'assert a', 'verify b', 'assert b']);
    asked.length = 0;
    await expect(checkRequests([check('a', new LeaseExpiredError()), check('b')])(request, send)).rejects.toThrow();
    expect(asked).toEqual(['verify a', 'assert a', 'failed a', 'failed b']);
  });
});

describe('meter requests', () => {
  const { signal } = new AbortController();
  const written = { name: 'web', uid: 'u', resourceVersion: '1', generation: 1 };
  const object = { metadata: { name: 'web', namespace: 'shop' } };

  test('each response is reported, failures with their status', async () => {
    const responses: unknown[] = [];
    const refused = new ApiError('slow down', { kind: 'retry', status: 429, reason: 'TooManyRequests' });
    const writer = chainWriter(
      {
        get: () => Promise.reject(new TypeError('bug')),
        create: async () => written,
        update: () => Promise.reject(refused),
        delete: async () => {},
      },
      meterRequests((...response) => responses.push(response)),
    );
    expect(await writer.create('endpointslices', object, signal)).toBe(written);
    await expect(writer.update('endpoints', object, signal)).rejects.toBe(refused);
    await expect(writer.get('pods', 'shop', 'web', signal)).rejects.toThrow('bug');
    await writer.delete('endpoints', 'shop', 'web', {}, signal);
    expect(responses).toEqual([
      ['create', 'endpointslices', null],
      ['update', 'endpoints', 429],
      ['delete', 'endpoints', null],
    ]);
  });
});
