import { describe, expect, test } from 'vitest';
import { clusters, type Permissions, serveManyNamespaces } from '../testing/many-namespaces.ts';

const [amber, beryl] = ['uid-amber', 'uid-beryl'] as const;
const list = '/api/v1/services';
const service = (cluster: string, namespace: string) => `${list}/${cluster}/${namespace}/svc-${namespace}`;

async function serve(permissions: Permissions, connected = clusters) {
  const readers = new Map([['reader', permissions]]);
  const console = await serveManyNamespaces(readers, connected);
  const get = (path: string, token = 'reader') => console.get(path, { authorization: `Bearer ${token}` });
  const statusOf = async (path: string) => (await get(path)).status;
  const errorOf = async (path: string) => JSON.parse((await get(path)).body).error;
  return { ...console, ask: console.get, readers, get, statusOf, errorOf };
}

const ofOneNamespace: Permissions = new Map([[amber, new Set(['ns0-amber'])]]);

describe('a reader of one namespace', () => {
  test('gets the same answer for each namespace that is forbidden, whether it exists or not', async () => {
    const { statusOf, errorOf } = await serve(ofOneNamespace);
    expect(await statusOf(service('amber', 'ns0-amber'))).toBe(200);
    for (const [cluster, namespace] of [
      ['amber', 'ns1-amber'],
      ['amber', 'nothing'],
      ['beryl', 'ns0-beryl'],
      ['nowhere', 'shop'],
    ] as const) {
      const text = `your token does not allow to list endpointslices.discovery.k8s.io in namespace ${namespace} of cluster ${cluster}`;
      const path = service(cluster, namespace);
      expect([await statusOf(path), await errorOf(path)]).toEqual([403, text]);
      expect(await statusOf(`${path}/history/stream`)).toBe(403);
    }
    expect(await errorOf(service('uid-amber', 'ns1-amber'))).toContain('of cluster amber');
    expect(await errorOf(service('uid-beryl', 'ns0-beryl'))).toContain('of cluster uid-beryl');
    expect(await errorOf(`${list}/amber/ns0-amber/nothing`)).toBe(
      'no history for Service ns0-amber/nothing in cluster amber',
    );
  });

  test('gets an error for a list of what is forbidden', async () => {
    const { statusOf, errorOf } = await serve(ofOneNamespace);
    expect(await statusOf(`${list}?namespace=ns0-amber`)).toBe(200);
    expect(await statusOf(`${list}?cluster=amber`)).toBe(200);
    expect(await statusOf(`${list}?cluster=beryl&namespace=ns0-amber`)).toBe(403);
    expect(await errorOf(`${list}?namespace=ns1-amber`)).toContain('in namespace ns1-amber');
    expect(await errorOf(`${list}?cluster=beryl`)).toContain('in any namespace of cluster beryl');
  });

  test('sees neither Nodes, nor dead letters, nor partitions', async () => {
    const { errorOf } = await serve(ofOneNamespace);
    expect(await errorOf('/api/v1/node-disruptions')).toMatch(/in all namespaces$/);
    expect(await errorOf('/api/v1/node-disruptions?cluster=amber')).toMatch(/in all namespaces of cluster amber$/);
    expect(await errorOf('/api/v1/dead-letters')).toMatch(/in all namespaces$/);
    expect(await errorOf('/api/v1/partitions')).toMatch(/in all namespaces of every cluster$/);
  });

  test('gets as many results as asked for, if there are so many', async () => {
    const { get } = await serve(new Map([['uid-coral', new Set(['ns1-coral', 'ns2-coral'])]]));
    const { items } = JSON.parse((await get('/api/v1/propagations?limit=2')).body);
    expect(items.map(({ namespace }: { namespace: string }) => namespace)).toEqual(['ns1-coral', 'ns2-coral']);
  });
});

test('a reader of a whole cluster sees its Nodes and dead letters, and not the partitions of the fleet', async () => {
  const { get, statusOf } = await serve(new Map([[beryl, 'all']]));
  const { items } = JSON.parse((await get('/api/v1/node-disruptions')).body);
  expect(items).toMatchObject([{ node: 'node-of-uid-beryl' }]);
  const letters = JSON.parse((await get('/api/v1/dead-letters')).body).items;
  expect(letters.map(({ key }: { key: string }) => key)).toContain('uid-beryl');
  expect(await statusOf('/api/v1/partitions')).toBe(403);
});

describe('a cluster that does not answer', () => {
  test('shows nothing, and others are not affected', async () => {
    const { get, statusOf } = await serve(new Map([...ofOneNamespace, [beryl, 'silent']]));
    expect(await statusOf(service('amber', 'ns0-amber'))).toBe(200);
    const { status, headers, body } = await get(service('beryl', 'ns0-beryl'));
    expect([status, headers['retry-after'], JSON.parse(body).error]).toEqual([
      ...[503, '5'],
      'cannot check whether you may list EndpointSlices in namespace ns0-beryl of cluster beryl: an API server does not answer',
    ]);
    const listed = await get(list);
    expect([listed.status, listed.headers.warning]).toEqual([200, expect.stringMatching(/^299 - "without a cluster/)]);
    expect(await statusOf(`${list}?cluster=beryl`)).toBe(503);
    expect(await statusOf('/api/v1/partitions')).toBe(503);
  });

  test('leaves open who a reader is whom no other accepts', async () => {
    const { get } = await serve(new Map([[beryl, 'silent']]));
    expect(await get(list)).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
    expect((await get('/')).status).toBe(503);
  });

  test('may be one that was not connected yet', async () => {
    const { get, statusOf } = await serve(ofOneNamespace, clusters.slice(0, 1));
    expect(await statusOf(service('beryl', 'ns0-beryl'))).toBe(503);
    expect((await get(list, 'stranger')).status).toBe(503);
  });
});

describe('a token that no cluster accepts', () => {
  test('opens nothing, and no session', async () => {
    const { get, ask } = await serve(ofOneNamespace);
    for (const path of ['/', '/app.ts', list, '/api/v1/stream', '/api/v1/openapi.json', '/nonsense'])
      expect(await get(path, 'stranger'), path).toMatchObject({ status: 401 });
    expect((await ask('/?token=stranger')).headers['set-cookie']).toBeUndefined();
  });

  test.each(['', ' ', 'two words', 'ä', 'x'.repeat(9_000)])(
    'cannot be %j, which no API server is asked about',
    async (token) => {
      const { get, readers } = await serve(new Map());
      readers.set(token, new Map([[amber, 'all']]));
      expect((await get(list, encodeURI(token))).status).toBe(401);
    },
  );
});

test('a session has the permissions of the token that began it', async () => {
  const { ask } = await serve(ofOneNamespace);
  const { status, headers } = await ask('/?token=reader');
  expect([status, headers.location]).toEqual([302, '/']);
  const cookie = `${headers['set-cookie']}`.split(';')[0] ?? '';
  expect((await ask('/', { cookie })).headers['content-type']).toContain('text/html');
  expect(JSON.parse((await ask(list, { cookie })).body).items).toMatchObject([{ namespace: 'ns0-amber' }]);
  expect((await ask(service('amber', 'ns1-amber'), { cookie })).status).toBe(403);
});

test('a stream ends once its reader may no longer see it', async () => {
  const { port, clock, readers } = await serve(ofOneNamespace);
  const follow = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: 'Bearer reader' } });
    return { status: response.status, ended: response.text() };
  };
  const streams = [await follow(`${service('amber', 'ns0-amber')}/history/stream`), await follow('/api/v1/stream')];
  expect(streams.map(({ status }) => status)).toEqual([200, 200]);
  readers.set('reader', new Map());
  let open = streams.length;
  for (const { ended } of streams) void ended.then(() => open--);
  await expect
    .poll(() => {
      clock.step(clock.now() + 10_000);
      return open;
    })
    .toBe(0);
});
