import { recordingLogger } from '@sluice/platform/testing';
import { describe, expect, test } from 'vitest';
import { serveConsole } from '../testing/serve-console.ts';

const web = '/api/v1/services/prod/shop/web';

describe('a browser that presents the token', () => {
  const start = () => serveConsole({ access: { token: 'secret', hosts: [] } });

  test('gets a session in a cookie and is sent to the page without the token in its URL', async () => {
    const { get } = await start();
    const { status, headers } = await get('/?token=secret');
    expect([status, headers.location]).toEqual([302, '/']);
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(/^sluice_console=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Strict$/),
    ]);
  });

  test('gets a new session each time', async () => {
    const { get } = await start();
    const cookies = [await get('/?token=secret'), await get('/?token=secret')].map(
      ({ headers }) => `${headers['set-cookie']}`,
    );
    expect(cookies[0]).not.toBe(cookies[1]);
    for (const cookie of cookies) expect((await get(web, { cookie: cookie.split(';')[0] ?? '' })).status).toBe(200);
  });

  test('is redirected without a cookie if the console needs no token', async () => {
    const { get } = await serveConsole();
    const { status, headers } = await get('/?token=secret');
    expect([status, headers.location, headers['set-cookie']]).toEqual([302, '/', undefined]);
  });
});

describe('responses', () => {
  test('of the API are not stored, and the page is checked for changes', async () => {
    const { get } = await serveConsole();
    const api = await get(web);
    expect(api.headers).toMatchObject({
      ...{ 'cache-control': 'no-store', 'content-type': 'application/json; charset=utf-8' },
      ...{ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' },
      'cross-origin-resource-policy': 'same-origin',
    });
    const page = await get('/');
    expect(page.headers).toMatchObject({ 'cache-control': 'no-cache', 'content-type': 'text/html; charset=utf-8' });
    expect(page.headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
  });

  test('to refused requests have the same protection', async () => {
    const { get } = await serveConsole({ access: { token: 'secret', hosts: [] } });
    const { status, headers } = await get(web);
    expect([status, headers['x-content-type-options']]).toEqual([401, 'nosniff']);
  });

  test('without a hint have none', async () => {
    const { error } = await serveConsole();
    expect(await error('//evil')).toEqual([400, 'invalid URL', undefined]);
    expect(await error('/nonsense')).toEqual([404, 'not found', 'see /api/v1/openapi.json']);
  });
});

test('an internal error is logged and not shown; that a store does not answer is not logged', async () => {
  const logger = recordingLogger();
  const failure = new Error('secret detail');
  const outage = { what: 'the store', since: 8_000, reason: 'connection refused' };
  let current: typeof outage | null = null;
  const { error } = await serveConsole({
    sources: { clusters: () => [], partitions: () => Promise.reject(failure), outage: () => current },
    logger,
  });
  expect(await error('/api/v1/partitions')).toEqual([500, 'internal error; see the log of the console', undefined]);
  expect(logger.fields('error')).toEqual([{ path: '/api/v1/partitions', error: failure }]);
  current = outage;
  expect((await error('/api/v1/partitions')).slice(0, 3)).toEqual([
    503,
    'the store has not answered since 1970-01-01T00:00:08.000Z (connection refused)',
    'explain and history show the state from before',
  ]);
  expect((await error('/nonsense'))[0]).toBe(404);
  expect(logger.lines).toHaveLength(1);
});

test('a long name is no path of the API', async () => {
  const { get } = await serveConsole();
  expect((await get(`/api/v1/services/prod/shop/${'x'.repeat(512)}`)).body).toContain('no history for Service');
  expect((await get(`/api/v1/services/prod/shop/${'x'.repeat(513)}`)).status).toBe(404);
});

test('a closed console ends its streams and expires nothing any more', async () => {
  const { app, clock, port } = await serveConsole();
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/stream`);
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const text = response.text();
  await app.close();
  expect(await text).toBe('retry: 2000\n\n');
  expect(clock.nextAt()).toBeUndefined();
});
