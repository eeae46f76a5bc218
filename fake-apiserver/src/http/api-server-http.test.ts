import { type IncomingMessage, request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { type Fault, FaultPlan } from '../faults/fault-plan.ts';
import { newServer, service, slice } from '../testing/fixtures.ts';
import { ApiServerHttp } from './api-server-http.ts';

const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
interface Body {
  readonly metadata: Readonly<Record<string, string>>;
  readonly items: readonly Body[];
  readonly status: unknown;
  readonly message: string;
}

const running: ApiServerHttp[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((http) => http.close()));
});

async function start(...faults: Fault[]) {
  const { server, clock } = newServer();
  const http = new ApiServerHttp({ server, clock, faults: new FaultPlan(faults) });
  running.push(http);
  const url = await http.listen();
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const init = { method, headers: { 'content-type': 'application/json', ...headers } };
    const response = await fetch(url + path, text === undefined ? init : { ...init, body: text });
    return { code: response.status, headers: response.headers, body: (await response.json()) as Body };
  };
  return { server, clock, url, call };
}

/** The lines of a watch; `next` waits for the next one. */
async function openWatch(url: string) {
  const response = await fetch(url);
  const lines = readLines(response.body ?? new ReadableStream());
  return { status: response.status, next: async () => JSON.parse((await lines.next()).value ?? 'null') };
}

async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  let text = '';
  for await (const chunk of body) {
    text += Buffer.from(chunk).toString();
    const parts = text.split('\n');
    text = parts.pop() ?? '';
    yield* parts;
  }
  return undefined;
}

describe('objects', () => {
  it('are created, read, updated, patched and deleted', async () => {
    const { call } = await start();
    const object = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', ...slice('x') };
    const created = await call('POST', slices, object);
    expect(created).toMatchObject({ code: 201, body: { kind: 'EndpointSlice', metadata: { generation: 1 } } });
    expect((await call('POST', slices, object)).code).toBe(409);
    const updated = await call('PUT', `${slices}/x`, { ...object, ports: null });
    expect(updated).toMatchObject({ code: 200, body: { ports: null, metadata: { generation: 2 } } });
    const patch = { metadata: { labels: { a: 'b' } } };
    const headers = { 'content-type': 'application/merge-patch+json' };
    expect(await call('PATCH', `${slices}/x`, patch, headers)).toMatchObject({ code: 200, body: patch });
    expect(await call('GET', `${slices}/x`)).toMatchObject({ code: 200, body: patch });
    const preconditions = { uid: 'other' };
    expect((await call('DELETE', `${slices}/x`, { kind: 'DeleteOptions', preconditions })).code).toBe(409);
    const deleted = await call('DELETE', `${slices}/x`);
    expect(deleted.body).toMatchObject({ kind: 'Status', status: 'Success', details: { name: 'x' } });
    expect(await call('GET', `${slices}/x`)).toMatchObject({
      code: 404,
      body: { kind: 'Status', reason: 'NotFound', message: 'endpointslices.discovery.k8s.io "x" not found' },
    });
  });

  it('take their namespace from the path (D16)', async () => {
    const { call } = await start();
    const created = await call('POST', '/api/v1/namespaces/default/endpoints', { metadata: { name: 'web' } });
    expect(created.body.metadata).toMatchObject({ name: 'web', namespace: 'default' });
  });

  it('are returned as metadata only on request', async () => {
    const { call } = await start();
    const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';
    const { body } = await call('POST', slices, slice('x'), { accept });
    expect(body).toMatchObject({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { name: 'x' },
    });
    expect(body).not.toHaveProperty('endpoints');
  });

  it('are returned as a table on request', async () => {
    const { call, server } = await start();
    server.create('services', service('web', { clusterIP: '10.96.0.7' }));
    server.create(
      'endpointslices',
      slice('x', { endpoints: [1, 2, 3, 4].map((i) => ({ addresses: [`10.1.0.${i}`] })) }),
    );
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
    const cells = async (path: string) => {
      const { body } = await call('GET', path, undefined, { accept });
      const { rows } = body as unknown as { rows: readonly { readonly cells: readonly string[] }[] };
      return rows.map((row) => row.cells.join(' | '));
    };
    expect(await cells('/api/v1/services')).toEqual(['web | ClusterIP | 10.96.0.7 | <none> | 80/TCP | 0s']);
    expect(await cells(`${slices}/x`)).toEqual(['x | IPv4 | 80 | 10.1.0.1,10.1.0.2,10.1.0.3 + 1 more... | 0s']);
  });

  it('have a status subresource', async () => {
    const { call, server } = await start();
    server.create('pods', { metadata: { name: 'p' } });
    const path = '/api/v1/namespaces/default/pods/p/status';
    const { body } = await call('PUT', path, { metadata: { name: 'p' }, status: { phase: 'Running' } });
    expect(body.status).toEqual({ phase: 'Running' });
    expect((await call('GET', `${slices}/x/status`)).code).toBe(404);
  });

  const refused: readonly [string, string, string, unknown, Record<string, string>, number][] = [
    ['not JSON', 'POST', slices, '{"metadata":', {}, 400],
    ['not an object', 'POST', slices, '[]', {}, 400],
    ['another kind', 'POST', slices, { kind: 'Pod', metadata: { name: 'x' } }, {}, 400],
    ['another namespace', 'POST', slices, { metadata: { name: 'x', namespace: 'kube-system' } }, {}, 400],
    ['another name', 'PUT', `${slices}/x`, slice('y'), {}, 400],
    ['invalid', 'POST', slices, slice('x', { addressType: 'IPv7' }), {}, 422],
    ['protobuf', 'POST', slices, 'k8s', { 'content-type': 'application/vnd.kubernetes.protobuf' }, 415],
    ['apply', 'PATCH', `${slices}/x`, '{}', { 'content-type': 'application/apply-patch+json' }, 415],
    ['no such resource', 'GET', '/api/v1/configmaps', undefined, {}, 404],
    ['malformed path', 'GET', '/api/v1/namespaces/%zz/pods', undefined, {}, 404],
    ['no such method', 'PUT', slices, slice('x'), {}, 405],
    ['bad limit', 'GET', `${slices}?limit=many`, undefined, {}, 400],
    ['bad selector', 'GET', `${slices}?labelSelector=a%20in%20(b)`, undefined, {}, 400],
    ['too large', 'POST', slices, JSON.stringify({ metadata: { name: 'x'.repeat(3 * 1024 * 1024) } }), {}, 413],
  ];
  it.each(refused)('%s is rejected with a Status', async (_, method, path, body, headers, code) => {
    const { call } = await start();
    const answer = await call(method, path, body, headers);
    expect(answer).toMatchObject({ code, body: { kind: 'Status', status: 'Failure', code } });
  });
});

describe('lists', () => {
  it('are paged and filtered', async () => {
    const { call, server } = await start();
    for (const name of ['a', 'b', 'c'])
      server.create('endpointslices', slice(name, { metadata: { labels: { name } } }));
    const first = (await call('GET', '/apis/discovery.k8s.io/v1/endpointslices?limit=2')).body;
    expect(first).toMatchObject({ kind: 'EndpointSliceList', items: [{}, {}], metadata: { remainingItemCount: 1 } });
    expect(first.items[0]).not.toHaveProperty('kind');
    const token = encodeURIComponent(first.metadata.continue ?? '');
    const second = (await call('GET', `/apis/discovery.k8s.io/v1/endpointslices?limit=2&continue=${token}`)).body;
    expect(second.items).toMatchObject([{ metadata: { name: 'c' } }]);
    expect(second.metadata).toEqual({ resourceVersion: first.metadata.resourceVersion });
    expect((await call('GET', `${slices}?labelSelector=name%3Db`)).body.items).toHaveLength(1);
    expect((await call('GET', `${slices}?fieldSelector=metadata.name%3Dc`)).body.items).toHaveLength(1);
  });

  it('are deleted as a collection', async () => {
    const { call, server } = await start();
    for (const name of ['a', 'b']) server.create('endpointslices', slice(name));
    expect((await call('DELETE', slices)).body.items).toHaveLength(2);
    expect(server.count('endpointslices')).toBe(0);
  });
});

describe('watches', () => {
  it('stream events, and bookmarks on request', async () => {
    const { url, server, clock } = await start();
    const { resourceVersion } = server;
    const query = `watch=1&allowWatchBookmarks=true&resourceVersion=${resourceVersion}`;
    const watch = await openWatch(`${url}${slices}?${query}`);
    server.create('endpointslices', slice('x'));
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { kind: 'EndpointSlice' } });
    server.delete('endpointslices', 'default', 'x');
    const deleted = { metadata: { name: 'x', resourceVersion: server.resourceVersion } };
    expect(await watch.next()).toMatchObject({ type: 'DELETED', object: deleted });
    clock.step();
    const bookmark = { kind: 'EndpointSlice', metadata: { resourceVersion: server.resourceVersion } };
    expect(await watch.next()).toMatchObject({ type: 'BOOKMARK', object: bookmark });
  });

  it('stream the initial objects and mark their end', async () => {
    const { url, server } = await start();
    server.create('services', service('web'));
    const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const watch = await openWatch(`${url}/api/v1/services?${query}`);
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'web' } } });
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    expect(await watch.next()).toMatchObject({ type: 'BOOKMARK', object: { metadata: { annotations } } });
  });

  it('get 410 if they start too early and end with an ERROR if they fall behind', async () => {
    const { url, server } = await start();
    const from = server.resourceVersion;
    server.create('services', service('web'));
    server.compact();
    const late = await fetch(`${url}/api/v1/services?watch=1&resourceVersion=${from}`);
    expect(late.status).toBe(410);
    expect(await late.json()).toMatchObject({ kind: 'Status', reason: 'Expired' });
  });

  it('end after timeoutSeconds', async () => {
    const { url, clock } = await start();
    const watch = await openWatch(`${url}/api/v1/pods?watch=1&timeoutSeconds=30`);
    clock.step();
    expect(await watch.next()).toBeNull();
  });

  it('hold no events for a slow client, which gets 410', async () => {
    const { server, clock } = newServer({ eventWindow: 50 });
    const http = new ApiServerHttp({ server, clock });
    running.push(http);
    const url = await http.listen();
    const { resourceVersion } = server;
    const response = await new Promise<IncomingMessage>((resolve) => {
      request(`${url}/api/v1/pods?watch=1&resourceVersion=${resourceVersion}`, resolve).end();
    });
    response.pause();
    const annotations = { padding: 'x'.repeat(100_000) };
    for (let i = 0; i < 400; i++) {
      server.create('pods', { metadata: { name: `p${i}`, annotations } });
      await new Promise(setImmediate);
    }
    let text = '';
    for await (const chunk of response) text += chunk;
    const events = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.length).toBeLessThan(400);
    expect(events.at(-1)).toMatchObject({ type: 'ERROR', object: { code: 410 } });
  });

  it('are cut by a fault', async () => {
    const { url, server } = await start();
    const watch = await openWatch(`${url}/api/v1/pods?watch=1`);
    server.cutWatches('reset');
    await expect(watch.next()).rejects.toThrow();
  });
});

describe('faults', () => {
  it('return 429 with Retry-After and break connections', async () => {
    const { call, server } = await start(
      { verb: 'create', resource: 'endpointslices', error: 'tooManyRequests', retryAfterSeconds: 7, times: 1 },
      { verb: 'create', resource: 'endpointslices', error: 'resetAfter', times: 1 },
    );
    const throttled = await call('POST', slices, slice('x'));
    expect([throttled.code, throttled.headers.get('retry-after')]).toEqual([429, '7']);
    await expect(call('POST', slices, slice('x'))).rejects.toThrow();
    expect(server.count('endpointslices')).toBe(1);
  });
});

describe('the server', () => {
  it.each([
    ['/version', { gitVersion: expect.stringMatching(/^v1\./) }],
    ['/api', { versions: ['v1'] }],
    ['/apis', { kind: 'APIGroupList' }],
    ['/apis/discovery.k8s.io', { kind: 'APIGroup', name: 'discovery.k8s.io' }],
    ['/apis/discovery.k8s.io/v1', { resources: [{ name: 'endpointslices', namespaced: true }] }],
    ['/api/v1/namespaces/kube-system', { metadata: { uid: expect.any(String) } }],
  ])('describes itself at %s', async (path, expected) => {
    const { call } = await start();
    expect((await call('GET', path)).body).toMatchObject(expected);
  });

  it('is ready and allows everything', async () => {
    const { url, call } = await start();
    expect(await (await fetch(`${url}/readyz`)).text()).toBe('ok');
    const review = { kind: 'SelfSubjectAccessReview', spec: {} };
    const { code, body } = await call('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', review);
    expect([code, body.status]).toEqual([201, { allowed: true }]);
    const rules = await call('POST', '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', { spec: {} });
    const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
    expect(rules.body.status).toMatchObject({ resourceRules: [everything], incomplete: false });
  });

  it('serves the stored Events in both groups', async () => {
    const { call } = await start();
    const event = {
      metadata: { name: 'e' },
      involvedObject: { kind: 'Service', name: 'web' },
      reason: 'R',
      message: 'what happened',
    };
    await call('POST', '/api/v1/namespaces/default/events', event);
    const { body } = await call('GET', '/apis/events.k8s.io/v1/namespaces/default/events/e');
    expect(body).toMatchObject({ apiVersion: 'events.k8s.io/v1', note: 'what happened', regarding: { name: 'web' } });
    const newer = { metadata: { name: 'f' }, regarding: { kind: 'Service' }, note: 'again' };
    await call('POST', '/apis/events.k8s.io/v1/namespaces/default/events', newer);
    const { body: list } = await call('GET', '/api/v1/namespaces/default/events');
    expect(list.items.map((item) => item.message)).toEqual(['what happened', 'again']);
  });

  it('that is read-only answers reads, and forbids everything else', async () => {
    const { server, clock } = newServer();
    server.create('services', service('web'));
    const http = new ApiServerHttp({ server, clock, readOnly: 'this is a recording' });
    running.push(http);
    const url = await http.listen();
    const call = async (method: string, path: string, body?: unknown) => {
      const init = { method, headers: { 'content-type': 'application/json' } };
      const response = await fetch(url + path, body === undefined ? init : { ...init, body: JSON.stringify(body) });
      return { code: response.status, body: (await response.json()) as Body };
    };
    const web = '/api/v1/namespaces/default/services/web';
    expect((await call('GET', web)).code).toBe(200);
    expect((await call('GET', '/api/v1/services')).code).toBe(200);
    expect((await openWatch(`${url}/api/v1/services?watch=1`)).status).toBe(200);
    for (const [method, path] of [
      ['POST', slices],
      ['PUT', web],
      ['PATCH', web],
      ['DELETE', web],
      ['DELETE', '/api/v1/namespaces/default/services'],
    ] as const) {
      const { code, body } = await call(method, path, slice('x'));
      expect([method, code, body.message]).toEqual([method, 403, expect.stringContaining('this is a recording')]);
    }
    expect(server.count('services')).toBe(1);
    const review = (verb: string) =>
      call('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
        spec: { resourceAttributes: { verb } },
      });
    expect((await review('list')).body.status).toEqual({ allowed: true });
    expect((await review('delete')).body.status).toEqual({ allowed: false });
  });

  it('that is for loopback only refuses requests with another Host', async () => {
    const { server, clock } = newServer();
    const http = new ApiServerHttp({ server, clock, loopbackOnly: true });
    running.push(http);
    const { port } = new URL(await http.listen());
    const statusFor = (host: string) =>
      new Promise<number | undefined>((resolve) => {
        request({ port, path: '/api/v1/services', headers: { host } }, ({ statusCode }) => resolve(statusCode)).end();
      });
    expect(await statusFor(`127.0.0.1:${port}`)).toBe(200);
    expect(await statusFor(`localhost:${port}`)).toBe(200);
    expect(await statusFor(`evil.example:${port}`)).toBe(400);
  });
});
