import type { ServerResponse } from 'node:http';
import { seededRandom } from '@sluice/platform';
import { afterEach, describe, expect, it } from 'vitest';
import { type ApiError, isApiError } from './api-error.ts';
import type { SkippedObject, WatchEvent } from './cluster.ts';
import { eventObject } from './event-object.ts';
import type { HttpClusterOptions } from './http-cluster.ts';
import { protobufMediaType } from './protobuf/index.ts';
import { encodedSlice, enveloped, sliceFrame } from './protobuf/testing/fixtures.ts';
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

async function failure(promise: Promise<unknown>): Promise<ApiError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (isApiError(error)) return error;
  throw new Error(`expected an ApiError, got ${String(error)}`);
}

const pod = (name: string, resourceVersion: string) => ({ metadata: { namespace: 'ns', name, resourceVersion } });
const named = (name: string) => ({ metadata: { name, resourceVersion: '1' }, addressType: 'IPv4' });
const line = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`;

async function collect(events: AsyncIterable<readonly WatchEvent[]>): Promise<readonly WatchEvent[]> {
  const found: WatchEvent[] = [];
  for await (const batch of events) found.push(...batch);
  return found;
}

describe('HttpCluster.list', () => {
  it('asks page by page, the first without a version', async () => {
    const { cluster, server } = await given(({ url }, response) =>
      json(response, 200, {
        items: url.includes('continue=') ? [pod('b', '2')] : [pod('a', '1')],
        metadata: { resourceVersion: '9', continue: url.includes('continue=') ? '' : 't/1' },
      }),
    );
    const first = await cluster.list('pods', { limit: 1, continueToken: '' }, noAbort);
    expect(first).toEqual({ items: [pod('a', '1')], resourceVersion: '9', continueToken: 't/1' });
    const second = await cluster.list('pods', { limit: 1, continueToken: 't/1' }, noAbort);
    expect(second).toEqual({ items: [pod('b', '2')], resourceVersion: '9', continueToken: '' });
    await cluster.list('endpointslices', { limit: 5, continueToken: '' }, noAbort);
    expect(server.requests.map(({ url }) => url)).toEqual([
      '/api/v1/pods?limit=1',
      '/api/v1/pods?limit=1&continue=t%2F1',
      '/apis/discovery.k8s.io/v1/endpointslices?limit=5',
    ]);
  });

  it('of one namespace asks for nothing else', async () => {
    const { cluster, server } = await given(
      (_, response) => json(response, 200, { items: [], metadata: { resourceVersion: '9' } }),
      { namespace: 'shop' },
    );
    await cluster.list('pods', { limit: 1, continueToken: '' }, noAbort);
    await collect(cluster.watch('endpointslices', '7', noAbort)).catch(() => {});
    expect(server.requests.map(({ url }) => url)).toEqual([
      '/api/v1/namespaces/shop/pods?limit=1',
      expect.stringMatching(/^\/apis\/discovery\.k8s\.io\/v1\/namespaces\/shop\/endpointslices\?watch=1&/),
    ]);
  });

  it('accepts null for an empty list, and rejects a body that is not a complete list', async () => {
    const metadata = { resourceVersion: '9' };
    const bodies: object[] = [
      { items: null, metadata },
      { items: [7, pod('a', '1')], metadata },
      { items: [] },
      { metadata },
    ];
    const { cluster } = await given((_, response) => json(response, 200, bodies.shift()));
    const list = () => cluster.list('pods', { limit: 1, continueToken: '' }, noAbort);
    expect((await list()).items).toEqual([]);
    expect(await failure(list())).toMatchObject({ reason: 'InvalidAnswer' });
    expect(await failure(list())).toMatchObject({ reason: 'InvalidAnswer' });
    expect(await failure(list())).toMatchObject({ reason: 'InvalidAnswer' });
  });
});

describe('HttpCluster on a server without the API', () => {
  it('names the missing API and the required version', async () => {
    const { cluster } = await given((_, response) => {
      response.writeHead(404, { 'content-type': 'text/plain' });
      response.end('404 page not found\n');
    });
    const message =
      /not serve endpointslices in discovery\.k8s\.io\/v1; upgrade it to Kubernetes 1\.21 or later \(.*HTTP status 404/;
    const list = cluster.list('endpointslices', { limit: 1, continueToken: '' }, noAbort);
    expect(await failure(list)).toMatchObject({ kind: 'terminal', message: expect.stringMatching(message) });
    const watch = cluster.watch('endpointslices', '1', noAbort)[Symbol.asyncIterator]().next();
    expect(await failure(watch)).toMatchObject({ kind: 'terminal', message: expect.stringMatching(message) });
  });
});

describe('HttpCluster.watch', () => {
  it('asks for bookmarks and a random end between 5 and 10 minutes', async () => {
    const { cluster, server } = await given((_, response) => response.end());
    await collect(cluster.watch('services', '7', noAbort));
    await collect(cluster.watch('services', '', noAbort, { sendInitialEvents: true }));
    const query = (index: number) => new URL(server.requests[index]?.url ?? '', server.url).searchParams;
    expect(Object.fromEntries(query(0))).toEqual({
      watch: '1',
      allowWatchBookmarks: 'true',
      resourceVersion: '7',
      timeoutSeconds: expect.stringMatching(/^[3-6]\d\d$/),
    });
    expect(query(1).get('sendInitialEvents')).toBe('true');
    expect(query(1).get('resourceVersionMatch')).toBe('NotOlderThan');
    expect(query(1).has('resourceVersion')).toBe(false);
  });

  it('yields an empty batch when the watch is open, then what each chunk completes', async () => {
    const ü = pod('grün-🌱', '2');
    const bytes = Buffer.from(line('ADDED', pod('a', '1')) + line('MODIFIED', ü) + line('DELETED', pod('a', '3')));
    const half = bytes.indexOf(Buffer.from('ü')) + 1;
    let response: ServerResponse | undefined;
    const { cluster } = await given((_, started) => {
      response = started;
      started.flushHeaders();
    });
    const iterator = cluster.watch('pods', '0', noAbort)[Symbol.asyncIterator]();
    expect((await iterator.next()).value).toEqual([]);
    response?.write(bytes.subarray(0, half));
    expect((await iterator.next()).value).toEqual([{ type: 'ADDED', object: pod('a', '1') }]);
    response?.write(bytes.subarray(half));
    expect((await iterator.next()).value).toEqual([
      { type: 'MODIFIED', object: ü },
      { type: 'DELETED', object: pod('a', '3') },
    ]);
    // A line that the end of the watch cuts off comes again when it is resumed.
    response?.end('{"type":"ADDED"');
    expect((await iterator.next()).done).toBe(true);
  });

  it('skips malformed objects, reports their names and continues', async () => {
    const skipped: SkippedObject[] = [];
    const text = `{"type":"ADDED","object":{"metadata":{"name":"torn"\n${line('ADDED', { metadata: { name: 'x' } })}${line('ADDED', pod('b', '2'))}`;
    const { cluster } = await given((_, response) => response.end(text));
    const onSkipped = (object: SkippedObject) => void skipped.push(object);
    expect(await collect(cluster.watch('pods', '0', noAbort, { onSkipped }))).toEqual([
      { type: 'ADDED', object: pod('b', '2') },
    ]);
    expect(skipped.map(({ name, why }) => `${name}: ${why}`)).toEqual([
      'torn: the line is not JSON',
      'x: no resourceVersion',
    ]);
  });

  it('fails when a malformed object is among the initial events of a WatchList, which stand for a list', async () => {
    const malformed = line('ADDED', { metadata: { name: 'x' } });
    const end = { metadata: { resourceVersion: '9', annotations: { 'k8s.io/initial-events-end': 'true' } } };
    const texts = [malformed + line('BOOKMARK', end), line('BOOKMARK', end) + malformed];
    const { cluster } = await given((_, response) => response.end(texts.shift()));
    const watch = () => collect(cluster.watch('pods', '', noAbort, { sendInitialEvents: true }));
    expect(await failure(watch())).toMatchObject({ reason: 'MalformedObject', kind: 'retry' });
    expect(await watch()).toMatchObject([{ type: 'BOOKMARK', initialEventsEnd: true }]);
  });

  it('delivers what came before an ERROR, then throws it', async () => {
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
    const { cluster } = await given((_, response) =>
      response.end(line('ADDED', pod('a', '1')) + line('ERROR', status)),
    );
    const found: WatchEvent[] = [];
    const read = async () => {
      for await (const batch of cluster.watch('pods', '0', noAbort)) found.push(...batch);
    };
    expect(await failure(read())).toMatchObject({ kind: 'gone', message: 'too old resource version' });
    expect(found).toHaveLength(1);
  });

  it('reads protobuf frames, and continues in JSON after a frame with unknown fields', async () => {
    const { cluster, server } = await given(({ headers, url }, response) => {
      const isProtobuf = `${headers.accept}`.startsWith(protobufMediaType);
      response.writeHead(200, {
        'content-type': isProtobuf ? `${protobufMediaType};stream=watch` : 'application/json',
      });
      if (url.includes('/pods?')) response.end();
      else if (isProtobuf)
        response.end(Buffer.concat([sliceFrame('ADDED', named('a')), sliceFrame('ADDED', named('b'), true)]));
      else response.end(line('ADDED', { ...named('b'), news: 1 }));
    });
    const found: WatchEvent[] = [];
    const watch = async () => {
      for await (const batch of cluster.watch('endpointslices', '0', noAbort)) found.push(...batch);
    };
    const error = await failure(watch());
    expect(error).toMatchObject({ kind: 'retry', message: expect.stringContaining('does not know') });
    expect(found).toMatchObject([{ type: 'ADDED', object: { metadata: { name: 'a' } } }]);
    await watch();
    expect(found[1]).toMatchObject({ object: { metadata: { name: 'b' }, news: 1 } });
    await collect(cluster.watch('pods', '0', noAbort));
    expect(server.requests.map(({ headers }) => headers.accept)).toEqual([
      `${protobufMediaType},application/json`,
      'application/json',
      `${protobufMediaType},application/json`,
    ]);
  });

  it('ends without error when its caller gives up', async () => {
    const abort = new AbortController();
    const { cluster } = await given((_, response) => response.write(line('ADDED', pod('a', '1'))));
    for await (const batch of cluster.watch('pods', '0', abort.signal)) if (batch.length > 0) abort.abort();
    expect(await collect(cluster.watch('pods', '0', abort.signal))).toEqual([]);
  });

  it('notices a connection that is dead without saying so', async () => {
    const { cluster, clock } = await given((_, response) => response.flushHeaders());
    const iterator = cluster.watch('pods', '0', noAbort)[Symbol.asyncIterator]();
    await iterator.next();
    const outcome = failure(iterator.next());
    clock.step(clock.now() + 150_000);
    expect(await outcome).toMatchObject({ kind: 'retry', reason: 'Timeout' });
  });
});

describe('HttpCluster’s writes', () => {
  const slice = {
    metadata: { namespace: 'ns', name: 's', resourceVersion: '4' },
    addressType: 'IPv4' as const,
    endpoints: [],
  };
  const written = { name: 's', uid: 'u', resourceVersion: '5', generation: 2 };
  const stored = { metadata: { namespace: 'ns', ...written } };

  it('go to discovery.k8s.io/v1, ask for metadata only, and return it (A3)', async () => {
    const { cluster, server } = await given((_, response) => json(response, 200, stored));
    expect(await cluster.create('endpointslices', slice, noAbort)).toEqual(written);
    expect(await cluster.update('endpointslices', slice, noAbort)).toEqual(written);
    expect(await cluster.update('endpoints', { metadata: { namespace: 'ns', name: 's' } }, noAbort)).toEqual(written);
    expect(server.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /apis/discovery.k8s.io/v1/namespaces/ns/endpointslices',
      'PUT /apis/discovery.k8s.io/v1/namespaces/ns/endpointslices/s',
      'PUT /api/v1/namespaces/ns/endpoints/s',
    ]);
    expect(server.requests[0]?.body).toEqual({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      ...slice,
      endpoints: null,
      ports: null,
    });
    const partial = 'as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
    expect(server.requests[0]?.headers.accept).toBe(
      `${protobufMediaType};${partial},application/json;${partial},application/json`,
    );
  });

  it('return metadata that the server answers in protobuf, and fail if it is none', async () => {
    const creationTimestamp = '2026-01-01T00:00:00Z';
    const answer = enveloped(encodedSlice({ metadata: { ...stored.metadata, creationTimestamp, labels: { a: 'b' } } }));
    const bodies = [answer, answer.subarray(0, -3), Buffer.from('{}')];
    const { cluster } = await given((_, response) => {
      response.writeHead(200, { 'content-type': `${protobufMediaType};as=PartialObjectMetadata` });
      response.end(bodies.shift());
    });
    const update = () => cluster.update('endpointslices', slice, noAbort);
    expect(await update()).toEqual({ ...written, creationTimestamp });
    for (const _ of [1, 2]) expect(await failure(update())).toMatchObject({ reason: 'InvalidAnswer' });
  });

  it('of Endpoints come with a warning that they are deprecated, which changes nothing (A13)', async () => {
    const { cluster, server } = await given((_, response) => {
      response.setHeader(
        'warning',
        '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"',
      );
      json(response, 200, stored);
    });
    const object = { metadata: { namespace: 'ns', name: 's' } };
    expect(await cluster.create('endpoints', object, noAbort)).toMatchObject({ uid: 'u', resourceVersion: '5' });
    expect(await cluster.update('endpoints', object, noAbort)).toMatchObject({ uid: 'u', resourceVersion: '5' });
    expect(server.requests).toHaveLength(2);
  });

  it('are protobuf, and JSON where the server does not know that or an object has more to say', async () => {
    let knows = true;
    const { cluster, server } = await given(({ headers }, response) =>
      knows || headers['content-type'] === 'application/json' ? json(response, 200, stored) : json(response, 415, {}),
    );
    await cluster.update('endpointslices', { ...slice, later: 1 } as never, noAbort);
    await cluster.update('endpointslices', slice, noAbort);
    knows = false;
    await Promise.all([1, 2].map(() => cluster.update('endpointslices', slice, noAbort)));
    await cluster.update('endpointslices', slice, noAbort);
    const types = server.requests.map(({ headers }) => `${headers['content-type']}`.replace(/.*[/.]/, ''));
    expect(types.slice(0, 4)).toEqual(['json', 'protobuf', 'protobuf', 'protobuf']);
    expect(types.slice(4)).toEqual(['json', 'json', 'json']);
    expect(server.requests[0]?.body).toMatchObject({ later: 1 });
    expect(server.requests.at(-1)?.body).toEqual(expect.objectContaining(slice));
  });

  it('do without where the server does not know that, and remember it', async () => {
    const { cluster, server } = await given(({ headers }, response) =>
      headers.accept === 'application/json' ? json(response, 200, { ...slice, ...stored }) : json(response, 406, {}),
    );
    await cluster.update('endpointslices', slice, noAbort);
    await cluster.update('endpointslices', slice, noAbort);
    expect(server.requests.map(({ headers }) => headers.accept === 'application/json')).toEqual([false, true, true]);
  });

  it('delete with preconditions', async () => {
    const { cluster, server } = await given((_, response) =>
      json(response, 200, { kind: 'Status', status: 'Success' }),
    );
    await cluster.delete('endpoints', 'ns', 'e', { uid: 'u', resourceVersion: '5' }, noAbort);
    expect(server.requests[0]).toMatchObject({
      method: 'DELETE',
      url: '/api/v1/namespaces/ns/endpoints/e',
      body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: 'u', resourceVersion: '5' } },
    });
  });

  it.each([
    ['with finalizers', { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a/b'] }, true],
    ['whose last finalizer is gone', { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [] }, false],
    ['in its last state', { finalizers: ['a/b'] }, false],
  ])('return a deleted object %s if it still exists', async (_, metadata, exists) => {
    const object = { kind: 'Endpoints', metadata: { namespace: 'ns', name: 'e', ...metadata } };
    const { cluster } = await given((_request, response) => json(response, 200, object));
    expect(await cluster.delete('endpoints', 'ns', 'e', {}, noAbort)).toEqual(exists ? object : undefined);
  });

  it('record Events and count them up', async () => {
    const { cluster, server } = await given((_, response) => json(response, 201, stored));
    const regarding = { kind: 'Endpoints', namespace: '', name: 'e' } as const;
    const event = { type: 'Warning', reason: 'FailedToCreateEndpoint', message: 'm', regarding } as const;
    const at = Date.parse('2026-01-01T00:00:00.700Z');
    const object = eventObject(event, 'endpoint-controller', { count: 1, firstAt: at, lastAt: at }, seededRandom(1));
    await cluster.createEvent(object, noAbort);
    await cluster.patchEvent('default', 'e.1', { count: 2 }, noAbort);
    expect(server.requests[0]).toMatchObject({
      url: '/api/v1/namespaces/default/events',
      body: {
        involvedObject: { kind: 'Endpoints', name: 'e' },
        reason: 'FailedToCreateEndpoint',
        source: { component: 'endpoint-controller' },
        firstTimestamp: '2026-01-01T00:00:00Z',
      },
    });
    expect(server.requests[1]).toMatchObject({
      method: 'PATCH',
      url: '/api/v1/namespaces/default/events/e.1',
      body: { count: 2 },
    });
    expect(server.requests[1]?.headers['content-type']).toBe('application/merge-patch+json');
  });
});

describe('HttpCluster reads', () => {
  it('the identity from the uid of kube-system', async () => {
    const { cluster, server } = await given((_, response) =>
      json(response, 200, { metadata: { name: 'kube-system', uid: 'abc' } }),
    );
    expect(await cluster.identity(noAbort)).toBe('abc');
    expect(server.requests.at(-1)?.url).toBe('/api/v1/namespaces/kube-system');
  });

  it.each(['a/b', 'a\nb', '\u001b[2J', 'x'.repeat(129)])('no identity from the uid %j', async (uid) => {
    const { cluster } = await given((_, response) => json(response, 200, { metadata: { name: 'kube-system', uid } }));
    await expect(cluster.identity(noAbort)).rejects.toMatchObject({ reason: 'InvalidAnswer' });
  });

  it('one object unchanged', async () => {
    const { cluster } = await given((_, response) => json(response, 200, pod('s', '1')));
    expect(await cluster.get('endpointslices', 'ns', 's', noAbort)).toEqual(pod('s', '1'));
  });
});
