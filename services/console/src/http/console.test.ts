import { request as httpRequest } from 'node:http';
import { silentLogger } from '@sluice/platform';
import { describe, expect, test } from 'vitest';
import { anOutcome, aPlan, pod, podChange, sliceOf, snapshot, toAppend } from '../testing/records.ts';
import { serveConsole as start, traced } from '../testing/serve-console.ts';
import type { ServiceDetail } from '../view/schemas.ts';

const web = '/api/v1/services/prod/shop/web';

describe('API', () => {
  test('a removed cluster and its Services are no longer listed; the history of a Service says why', async () => {
    const { json, history } = await start({ sources: { clusters: () => [] } });
    expect((await json('/api/v1/overview')).clusters).toMatchObject([{ identity: 'cluster-uid', state: 'unknown' }]);
    const removal = { kind: 'clusterRemoved', cluster: 'cluster-uid', epoch: 1, removedAt: 9_000 } as const;
    history.add('changes', 0, { ...toAppend(removal), key: 'cluster-uid' });
    expect((await json('/api/v1/overview')).clusters).toEqual([]);
    expect((await json('/api/v1/services')).items).toEqual([]);
    const removed = await json('/api/v1/services/cluster-uid/shop/web');
    expect(removed).toMatchObject({ summary: { status: 'deleted' }, pods: [], slices: [] });
    expect(removed.notes).toEqual(['The fleet no longer serves the cluster of this Service.']);
    const entries = (await json('/api/v1/services/cluster-uid/shop/web/history')).entries;
    expect(entries.at(-1)).toMatchObject({ observations: [{ text: expect.stringContaining('removed') }] });
  });

  test('returns the overview and lists Services', async () => {
    const { json } = await start();
    expect(await json('/api/v1/overview')).toMatchObject({
      version: '0.1.0',
      since: 500,
      clusters: [{ name: 'prod', services: 1, state: 'synced' }],
    });
    expect(await json('/api/v1/services')).toEqual({
      total: 1,
      counts: { empty: 1 },
      endpoints: { ready: 0, all: 1 },
      items: [
        {
          cluster: 'cluster-uid',
          clusterName: 'prod',
          namespace: 'shop',
          name: 'web',
          status: 'empty',
          problem: '',
          reason: 'web-1 is not ready',
          pods: 1,
          endpoints: 1,
          ready: 0,
          terminating: 0,
          slices: 1,
          lastChangeAt: 5_004,
          lastLatencyMs: 4,
        },
      ],
    });
    expect(await json('/api/v1/services?q=nothing')).toMatchObject({ total: 0, items: [] });
    expect(await json('/api/v1/services?status=ok')).toMatchObject({ total: 0, counts: { empty: 1 } });
    expect(await json('/api/v1/services?cluster=prod&namespace=shop&sort=changed')).toMatchObject({ total: 1 });
  });

  test('a Service of a cluster that does not answer says since when its state is outdated', async () => {
    const outage = { since: 8_000, reason: 'connection refused' };
    const known = { identity: 'cluster-uid', name: 'prod', version: '', server: '', state: 'not answering', outage };
    const { json } = await start({ sources: { clusters: () => [known] } });
    expect(await json(web)).toMatchObject({ live: true, outage: { what: 'prod', ...outage } });
    expect(await json(`${web}/pods/web-1`)).toMatchObject({ outage: { what: 'prod', ...outage } });
    expect(await json(`${web}?at=6000`)).toMatchObject({ live: false, outage: null });
    expect(await json('/api/v1/overview')).toMatchObject({ outage: null, fleet: false, clusters: [{ outage }] });
  });

  test('returns a Service now and at a past time, by name or UID of its cluster', async () => {
    const { json, get } = await start();
    const now: ServiceDetail = await json(web);
    expect(now).toMatchObject({ live: true, slices: [{ endpoints: [{ ready: false }] }] });
    expect(now.pods[0]).toMatchObject({
      pod: 'web-1',
      verdict: 'not ready',
      lastChange: { at: 5_004, type: 'changed' },
    });
    const past: ServiceDetail = await json(`${web}?at=2000`);
    expect(past).toMatchObject({ live: false, at: 2_000, slices: [{ endpoints: [{ ready: true }] }] });
    expect(past.pods[0]).toMatchObject({ verdict: 'ready', lastChange: { at: 1_020, type: 'added' } });
    expect(await json('/api/v1/services/cluster-uid/shop/web')).toMatchObject({ live: true });
    const early = await get(`${web}?at=10`);
    expect([early.status, JSON.parse(early.body).error]).toEqual([
      404,
      'no history at 1970-01-01T00:00:00.010Z: the history starts at 1970-01-01T00:00:00.500Z',
    ]);
  });

  test('returns the history, optionally of one Pod or period', async () => {
    const { json } = await start();
    const whole = await json(`${web}/history`);
    expect(whole.entries.map(({ kind }: { kind: string }) => kind)).toEqual([
      'observed',
      'decided',
      'completed',
      'observed',
      'decided',
      'completed',
    ]);
    expect(whole.entries[0].traceparent).toContain('0af7651916cd43dd8448eb211c80319c');
    expect(await json(`${web}/history?pod=web-1&since=5000&limit=1`)).toMatchObject({
      total: 3,
      entries: [{ kind: 'completed', endpoints: [{ before: { ready: true }, after: { ready: false } }] }],
    });
    expect(await json(`${web}/pods/web-1`)).toMatchObject({ verdict: 'not ready' });
    expect(await json('/api/v1/changes')).toMatchObject({
      items: [
        { at: 5_004, changed: 1 },
        { at: 1_020, added: 1 },
      ],
    });
  });

  test('errors have a hint', async () => {
    const { error } = await start();
    expect(await error('/api/v1/services/prod/shop/wob')).toEqual([
      404,
      'no history for Service shop/wob in cluster prod',
      'known: shop/web',
    ]);
    expect(await error(`${web}?at=yesterday`)).toEqual([400, expect.stringMatching(/^at: /), expect.any(String)]);
    expect(await error('/api/v1/services?limit=0')).toEqual([
      400,
      expect.stringMatching(/^limit: /),
      expect.any(String),
    ]);
    expect(await error('/api/v1/nonsense')).toEqual([404, 'not found', expect.any(String)]);
    expect(await error('/api/v1/partitions')).toEqual([404, 'this console has no partitions', expect.any(String)]);
    expect((await error('/api/v1/services/prod/%E0%A4%A/web'))[0]).toBe(400);
  });

  test('an unknown Service: the most similar ones of its cluster, or that there are none', async () => {
    const { get, history } = await start();
    for (const [i, name] of ['cart', 'card-gateway', 'db', 'dns', 'etl', 'ftp'].entries()) {
      const message = {
        ...snapshot(1, 1_000 + i, []),
        key: { cluster: 'cluster-uid', namespace: 'pay', service: name },
      };
      history.add('changes', 0, { ...traced(message), key: `cluster-uid/pay/${name}` });
    }
    const other = { cluster: 'other', namespace: 'shop', service: 'crat' };
    history.add('changes', 0, { ...traced({ ...snapshot(1, 1_000, []), key: other }), key: 'other/shop/crat' });
    const hint = async (path: string) => JSON.parse((await get(`/api/v1/services/${path}`)).body).hint;
    expect(await hint('prod/pay/web')).toMatch(/^known: shop\/web, /);
    expect(await hint('prod/pay/crat')).toBe(
      'known: pay/cart, pay/card-gateway, pay/db, pay/dns, pay/etl and 2 more, which the page lists',
    );
    expect(await hint('nowhere/pay/crat')).toBe('no Service of this cluster has been observed yet');
  });

  test('while the store does not answer, what it stores is refused with since when and why', async () => {
    const outage = { what: 'the store', since: 8_000, reason: 'connection refused' };
    const read = () => Promise.reject(new Error('not asked for'));
    const sources = {
      ...{ clusters: () => [], partitions: read, parked: read, deadLetters: read, current: outage },
      outage() {
        return this.current;
      },
    };
    const { get } = await start({ sources });
    for (const path of ['parked', 'partitions', 'dead-letters']) {
      const { status, body } = await get(`/api/v1/${path}`);
      expect([status, JSON.parse(body).error]).toEqual([
        503,
        'the store has not answered since 1970-01-01T00:00:08.000Z (connection refused)',
      ]);
    }
  });

  test('describes every route and its parameters in OpenAPI', async () => {
    const { json } = await start();
    const description = await json('/api/v1/openapi.json');
    expect(description.openapi).toBe('3.1.0');
    const described = description.paths['/api/v1/services/{cluster}/{namespace}/{service}'].get;
    expect(described.parameters.map(({ name, in: place }: { name: string; in: string }) => `${place} ${name}`)).toEqual(
      ['path cluster', 'path namespace', 'path service', 'query at'],
    );
    expect(Object.keys(description.paths)).toHaveLength(24);
  });

  test('streams changed Services and new writes', async () => {
    const { port, add, clock } = await start();
    const streamed = new Promise<string>((resolve) => {
      const request = httpRequest({ host: '127.0.0.1', port, path: '/api/v1/stream' }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          body += chunk;
          if (body.includes('retry')) {
            add(podChange(3, 10_000, pod('web-1', { ready: true })));
            add(aPlan(3, 10_001, [{ verb: 'update', object: sliceOf('web-1', { version: '12', ready: true }) }]));
            add(anOutcome(3, 10_004, 10_000, [{ verb: 'update', version: '13' }]));
            clock.step(10_500);
          }
          if (!body.includes('event: update')) return;
          resolve(body);
          request.destroy();
        });
      });
      request.end();
    });
    const data = /^data: (.*)$/m.exec(await streamed)?.[1] ?? '{}';
    expect(JSON.parse(data)).toMatchObject({
      services: [{ name: 'web', status: 'ok', ready: 1 }],
      changes: [{ at: 10_004, changed: 1, latencyMs: 4 }],
    });
  });
});

test('explains a deleted Pod and when its endpoint was removed', async () => {
  const { add, json } = await start();
  add(podChange(3, 8_000, pod('web-1', { ready: true, terminating: true })));
  expect(await json(`${web}/pods/web-1`)).toMatchObject({ deletingSince: 8_000 });
  add(podChange(4, 9_000, { kind: 'pod', name: 'web-1', uid: 'web-1-uid', node: null, pod: null } as never));
  add(
    aPlan(3, 9_001, [
      { verb: 'update', object: { ...sliceOf('web-1', { version: '12', ready: false }), endpoints: [] } },
    ]),
  );
  add(anOutcome(3, 9_005, 9_000, [{ verb: 'update', version: '13' }]));
  expect(await json(`${web}/pods/web-1`)).toMatchObject({
    verdict: 'unknown',
    reasons: ['the Pod was deleted, or its labels no longer match the selector'],
    deletingSince: 8_000,
    unready: { latencyMs: 4 },
    lastChange: { type: 'removed', at: 9_005, latencyMs: 5 },
  });
});

describe('stream of the history', () => {
  /** Collects this many events of a stream. */
  const entriesOf = (port: number, path: string, count: number, onOpen: () => void) =>
    new Promise<{ kind: string; at: number }[]>((resolve, reject) => {
      const request = httpRequest({ host: '127.0.0.1', port, path }, (response) => {
        let body = '';
        let opened = false;
        response.setEncoding('utf8').on('data', (chunk) => {
          body += chunk;
          if (!opened) onOpen();
          opened = true;
          const entries = [...body.matchAll(/^event: entry\ndata: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''));
          if (entries.length < count) return;
          resolve(entries);
          request.destroy();
        });
      });
      request.on('error', reject).end();
    });

  test('sends existing entries, then new ones, each once', async () => {
    const { port, add, clock } = await start();
    const addRecords = () => {
      add(podChange(3, 10_000, pod('web-1', { ready: true })));
      clock.step(10_500);
      add(aPlan(3, 10_001, [{ verb: 'update', object: sliceOf('web-1', { version: '12', ready: true }) }]));
      add(anOutcome(3, 10_004, 10_000, [{ verb: 'update', version: '13' }]));
      clock.step(11_000);
    };
    const entries = await entriesOf(port, `${web}/history/stream?since=5001`, 5, addRecords);
    expect(entries.map(({ kind, at }) => [kind, at])).toEqual([
      ['decided', 5_001],
      ['completed', 5_004],
      ['observed', 10_000],
      ['decided', 10_001],
      ['completed', 10_004],
    ]);
  });

  test('sends only new entries when a plan arrives after its Outcome', async () => {
    const { port, add, clock } = await start();
    const addRecords = () => {
      add(anOutcome(3, 10_004, 10_000, [{ verb: 'update', version: '13' }]));
      clock.step(10_500);
      add(aPlan(3, 10_001, [{ verb: 'update', object: sliceOf('web-1', { version: '12', ready: true }) }]));
      clock.step(11_000);
    };
    const entries = await entriesOf(port, `${web}/history/stream?since=10000`, 3, addRecords);
    expect(entries.map(({ kind }) => kind)).toEqual(['completed', 'decided', 'completed']);
  });

  test('answers 404 for an unknown Service', async () => {
    const { get } = await start();
    const { status, body } = await get('/api/v1/services/prod/shop/nobody/history/stream');
    expect([status, JSON.parse(body).error]).toEqual([404, expect.stringContaining('no history')]);
  });
});

describe('access', () => {
  test('allows only GET and HEAD', async () => {
    const { get } = await start();
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expect([method, (await get(web, {}, method)).status]).toEqual([method, 405]);
    }
  });

  test('rejects unknown host names and other origins', async () => {
    const { get, port } = await start();
    expect((await get(web, { host: 'evil.example' })).status).toBe(421);
    expect((await get(web, { origin: 'http://evil.example' })).status).toBe(403);
    expect((await get(web, { origin: 'null' })).status).toBe(403);
    expect((await get(web, { origin: `http://127.0.0.1:${port + 1}` })).status, 'another port').toBe(403);
    expect((await get(web, { origin: `http://127.0.0.1:${port}` })).status).toBe(200);
  });

  test('requires the token, and stores it in a cookie for the page', async () => {
    const { get } = await start({ access: { token: 'secret', hosts: ['console.example'] } });
    expect((await get(web)).status).toBe(401);
    expect((await get(web, { authorization: 'Bearer wrong' })).status).toBe(401);
    expect((await get(web, { authorization: 'Bearer secret', host: 'console.example:8443' })).status).toBe(200);
    const opened = await get('/?token=secret');
    expect([opened.status, opened.headers.location]).toEqual([302, '/']);
    const cookie = String(opened.headers['set-cookie']);
    expect(cookie).toContain('HttpOnly; SameSite=Strict');
    expect(cookie, 'the id of a session').not.toContain('secret');
    expect((await get(web, { cookie: cookie.split(';')[0] ?? '' })).status).toBe(200);
    expect((await get(web, { cookie: 'sluice_console=secret' })).status).toBe(401);
  });

  test('accepts the token in the URL of the root only', async () => {
    const { get } = await start({ access: { token: 'secret', hosts: [] } });
    expect((await get('/?token=wrong')).status).toBe(401);
    for (const path of [`${web}?token=secret`, '/services/prod/shop/web?token=secret']) {
      expect([path, (await get(path)).status]).toEqual([path, 401]);
    }
  });

  test('answers an invalid URL with 400 and logs no URL', async () => {
    const logged: string[] = [];
    const error = (message: string, fields: unknown) => logged.push(`${message} ${JSON.stringify(fields)}`);
    const { get } = await start({ access: { token: 'secret', hosts: [] }, logger: { ...silentLogger, error } });
    for (const path of ['///?token=secret', '//evil.example/?token=secret', 'http://[/?token=secret']) {
      expect([path, (await get(path)).status]).toEqual([path, 400]);
    }
    expect(logged).toEqual([]);
  });

  test('logs the path of a failed request without its query', async () => {
    const logged: unknown[] = [];
    const error = (_: string, fields: unknown) => logged.push(fields);
    const failing = () => {
      throw new Error('broken');
    };
    const sources = { clusters: () => [], partitions: failing };
    const { get } = await start({ sources, logger: { ...silentLogger, error } });
    expect((await get('/api/v1/partitions?secret=1')).status).toBe(500);
    expect(logged).toMatchObject([{ path: '/api/v1/partitions' }]);
    expect(JSON.stringify(logged)).not.toContain('secret');
  });

  test('rejects requests that another site makes, except following a link', async () => {
    const { get } = await start();
    const site = (value: string, more = {}) => ({ 'sec-fetch-site': value, ...more });
    for (const value of ['cross-site', 'same-site']) {
      expect((await get(web, site(value, { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }))).status).toBe(
        403,
      );
    }
    // A frame in the page of another site, and a request that only claims to show a page.
    for (const odd of [
      { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
      { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'document' },
    ]) {
      expect((await get('/', site('cross-site', odd))).status).toBe(403);
    }
    const link = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    expect((await get('/', site('cross-site', link))).status).toBe(200);
    for (const value of ['same-origin', 'none']) expect((await get(web, site(value))).status).toBe(200);
  });

  test('limits the number of open streams', async () => {
    const { port, get } = await start();
    const open = () =>
      new Promise<{ readonly status: number; readonly close: () => void }>((resolve, reject) => {
        const request = httpRequest({ host: '127.0.0.1', port, path: `${web}/history/stream` }, (response) => {
          // Never reads the body.
          resolve({ status: response.statusCode ?? 0, close: () => request.destroy() });
        });
        request.on('error', () => {}).end();
        request.on('error', reject);
      });
    const streams = await Promise.all(Array.from({ length: 64 }, open));
    expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200));
    const refused = await get(`${web}/history/stream`);
    expect([refused.status, JSON.parse(refused.body).error]).toEqual([503, 'more than 64 open streams']);
    expect(refused.headers['retry-after']).toBe('1');
    expect((await get(web)).status, 'other requests are answered').toBe(200);
    for (const { close } of streams) close();
    await expect
      .poll(async () => {
        const one = await open();
        one.close();
        return one.status;
      })
      .toBe(200);
  });

  test('serves the page as JavaScript with a strict content security policy', async () => {
    const { get } = await start();
    const page = await get('/services/prod/shop/web');
    expect(page.headers['content-type']).toContain('text/html');
    expect(page.headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
    expect((await get('/packages/preact-hooks.js')).headers['content-type']).toContain('text/javascript');
    expect((await get('/../package.json')).status).toBe(404);
  });
});
