import { afterEach, describe, expect, test } from 'vitest';
import type { HttpCluster, HttpClusterOptions } from './http-cluster.ts';
import { clusterOver, connect, type Handler, json, noAbort, startServer } from './testing/fixtures.ts';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function given(handler: Handler, options: Partial<HttpClusterOptions> = {}) {
  const server = await startServer(handler);
  const { connection, clock, close } = await connect(server.url);
  cleanups.push(server.close, close);
  return { server, clock, cluster: clusterOver(connection, clock, options) };
}

const pod = (name: string, resourceVersion: string) => ({ metadata: { namespace: 'ns', name, resourceVersion } });

describe('a write that the server does not accept in any format', () => {
  const slice = { metadata: { namespace: 'ns', name: 's' }, addressType: 'IPv4' as const, endpoints: [] };

  test.each([
    [406, 2],
    [415, 2],
    [400, 1],
  ])('fails with status %i after %i requests', async (status, requests) => {
    const { cluster, server } = await given((_, response) => json(response, status, {}));
    await expect(cluster.create('endpointslices', slice, noAbort)).rejects.toMatchObject({ status });
    expect(server.requests).toHaveLength(requests);
  });

  test.each([{}, { metadata: { namespace: 'ns', name: 's' } }, { metadata: { resourceVersion: '5' } }])(
    'fails if %j is said to be stored',
    async (stored) => {
      const { cluster } = await given((_, response) => json(response, 201, stored));
      await expect(cluster.create('endpointslices', slice, noAbort)).rejects.toMatchObject({ reason: 'InvalidAnswer' });
    },
  );

  test('returns what the server has stored, whose generation and age may be unknown', async () => {
    const metadata = { namespace: 'ns', name: 's', resourceVersion: '5' };
    const { cluster } = await given((_, response) => json(response, 201, { metadata }));
    const written = { name: 's', resourceVersion: '5', uid: '', generation: 0 };
    expect(await cluster.create('endpointslices', slice, noAbort)).toEqual(written);
  });
});

describe('HttpCluster for a controller', () => {
  test('writes over the connection of the controller, and is made once', async () => {
    const stored = { metadata: { namespace: 'ns', name: 'e', uid: 'u', resourceVersion: '5' } };
    const own = await startServer((_, response) => json(response, 200, stored));
    const { connection, close } = await connect(own.url);
    cleanups.push(own.close, close);
    const { cluster, server } = await given(() => {}, { controllerConnection: () => connection });
    const ofController = cluster.forController('endpoints');
    expect(cluster.forController('endpoints')).toBe(ofController);
    await ofController.update('endpoints', { metadata: { namespace: 'ns', name: 'e' } }, noAbort);
    expect([own.requests.length, server.requests.length]).toEqual([1, 0]);
    // It has no other controllers.
    expect(ofController.forController('endpointslice')).toBe(ofController);
  });

  test('is the same without a connection of its own', async () => {
    const { cluster } = await given(() => {});
    expect(cluster.forController('endpoints')).toBe(cluster);
  });
});

describe('an answer about another object is none', () => {
  const about = { kind: 'Endpoints', metadata: { namespace: 'ns', name: 'e', uid: 'u', resourceVersion: '5' } };
  const metadata = (change: object) => ({ ...about, metadata: { ...about.metadata, ...change } });
  const object = { metadata: { namespace: 'ns', name: 'e' } };
  const requests: readonly [string, (cluster: HttpCluster) => Promise<unknown>][] = [
    ['get', (cluster) => cluster.get('endpoints', 'ns', 'e', noAbort)],
    ['create', (cluster) => cluster.create('endpoints', object, noAbort)],
    ['update', (cluster) => cluster.update('endpoints', object, noAbort)],
    ['delete', (cluster) => cluster.delete('endpoints', 'ns', 'e', {}, noAbort)],
  ];
  const others = [
    ['of another name', metadata({ name: 'f' })],
    ['of another namespace', metadata({ namespace: 'other' })],
    ['of no namespace', metadata({ namespace: undefined })],
    ['of another kind', { ...about, kind: 'EndpointSlice' }],
    ['of a Status', { kind: 'Status', status: 'Success', details: { kind: 'endpoints', name: 'f' } }],
  ] as const;

  test.each(requests.flatMap(([verb, send]) => others.map(([what, body]) => [verb, what, send, body] as const)))(
    '%s: %s',
    async (_verb, _what, send, body) => {
      const { cluster } = await given((_, response) => json(response, 200, body));
      await expect(send(cluster)).rejects.toMatchObject({ kind: 'retry', reason: 'InvalidAnswer' });
    },
  );

  test('the identity is the uid of kube-system alone', async () => {
    const { cluster } = await given((_, response) =>
      json(response, 200, { kind: 'Namespace', metadata: { name: 'default', uid: 'u' } }),
    );
    await expect(cluster.identity(noAbort)).rejects.toMatchObject({ reason: 'InvalidAnswer' });
  });
});

describe('HttpCluster’s time limits', () => {
  test.each([
    [undefined, 60_000],
    [5_000, 5_000],
  ])('a list fails after a minute without data, or after the time given: %s', async (listTimeoutMs, expected) => {
    const { cluster, clock, server } = await given(() => {}, listTimeoutMs === undefined ? {} : { listTimeoutMs });
    const list = cluster.list('pods', { limit: 1, continueToken: '' }, noAbort);
    const outcome = expect(list).rejects.toMatchObject({ reason: 'Timeout' });
    await expect.poll(() => server.requests.length).toBe(1);
    expect(clock.nextAt()).toBe(clock.now() + expected);
    clock.step();
    await outcome;
  });

  test('a watch fails after the time given without data', async () => {
    const { cluster, clock } = await given((_, response) => response.flushHeaders(), { watchIdleMs: 7_000 });
    const iterator = cluster.watch('pods', '0', noAbort)[Symbol.asyncIterator]();
    await iterator.next();
    const outcome = expect(iterator.next()).rejects.toMatchObject({ reason: 'Timeout' });
    clock.step(clock.now() + 7_000);
    await outcome;
  });
});

describe('HttpCluster reads', () => {
  test('a list item by item, without keeping the items', async () => {
    const list = { items: [pod('a', '1'), pod('b', '2')], metadata: { resourceVersion: '9' } };
    const { cluster } = await given((_, response) => json(response, 200, list));
    const items: unknown[] = [];
    const options = { limit: 5, continueToken: '', onItem: (object: unknown) => void items.push(object) };
    expect(await cluster.list('pods', options, noAbort)).toMatchObject({ items: [], resourceVersion: '9' });
    expect(items).toEqual(list.items);
  });

  test('no list whose consumer fails', async () => {
    const list = { items: [pod('a', '1')], metadata: { resourceVersion: '9' } };
    const { cluster } = await given((_, response) => json(response, 200, list));
    const onItem = () => {
      throw new TypeError('bug');
    };
    await expect(cluster.list('pods', { limit: 5, continueToken: '', onItem }, noAbort)).rejects.toThrow('bug');
  });

  test('no list that the server refuses, whose error is that of the server', async () => {
    const { cluster } = await given((_, response) => json(response, 403, { kind: 'Status', reason: 'Forbidden' }));
    const list = cluster.list('pods', { limit: 5, continueToken: '' }, noAbort);
    await expect(list).rejects.toMatchObject({ status: 403, reason: 'Forbidden' });
  });

  test('no identity without a uid, and no object that is none', async () => {
    const { cluster } = await given((_, response) => json(response, 200, ['odd']));
    await expect(cluster.identity(noAbort)).rejects.toMatchObject({ reason: 'InvalidAnswer' });
    await expect(cluster.get('pods', 'ns', 'p', noAbort)).rejects.toMatchObject({ reason: 'InvalidAnswer' });
  });
});
