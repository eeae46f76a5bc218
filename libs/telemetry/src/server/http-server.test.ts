import type { IncomingMessage } from 'node:http';
import { type LogLevel, silentLogger } from '@sluice/platform';
import { parseBindAddress, systemClock } from '@sluice/platform/process';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Metrics } from '../metrics.ts';
import { syncHealth } from './health.ts';
import { isFromBrowserPage, type TelemetryServer } from './http-server.ts';
import { answerLogLevel } from './log-level.ts';
import { startTelemetry } from './start-telemetry.ts';

describe('http server', () => {
  const anyPort = { host: '127.0.0.1', port: 0 };
  const metrics = new Metrics({ clusters: new Map() });
  let ready: boolean;
  let servers: TelemetryServer[];

  beforeEach(() => {
    ready = false;
    servers = [];
  });

  afterEach(() => Promise.all(servers.map((server) => server.close())));

  async function start(at: Parameters<typeof startTelemetry>[0], log?: { level: LogLevel }): Promise<TelemetryServer> {
    const server = await startTelemetry(
      at,
      { metrics, health: syncHealth('c', () => ready), clock: systemClock, ...(log && { log }) },
      silentLogger,
    );
    if (server === undefined) throw new Error('not served');
    servers.push(server);
    return server;
  }

  test('serves metrics in the text format, including process metrics', async () => {
    const { url } = await start(anyPort);
    const response = await fetch(`${url}/metrics`);
    expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    const text = await response.text();
    expect(text).toMatch(/^process_cpu_seconds_total \d/m);
    expect(text).toMatch(/^# TYPE endpoint_slice_controller_changes counter$/m);
  });

  test.each([
    ['GET', '/metrics'],
    ['GET', '/livez'],
    ['GET', '/readyz'],
    ['GET', '/debug/log-level'],
    ['PUT', '/debug/log-level'],
    ['GET', '/unknown'],
    ['POST', '/metrics'],
  ])('no page may frame, sniff or read the answer to %s %s', async (method, path) => {
    const { url } = await start(anyPort, { level: 'info' });
    expect(Object.fromEntries((await fetch(url + path, { method })).headers)).toMatchObject({
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
  });

  test('is not accessible to web pages', async () => {
    const { url } = await start(anyPort);
    for (const path of ['/metrics', '/livez', '/readyz']) {
      const foreign = await fetch(url + path, { headers: { 'sec-fetch-site': 'cross-site' } });
      expect([path, foreign.status]).toEqual([path, 403]);
    }
  });

  test('serves OpenMetrics to a scraper that asks for it', async () => {
    const { url } = await start(anyPort);
    const response = await fetch(`${url}/metrics`, {
      headers: { accept: 'application/openmetrics-text; version=1.0.0' },
    });
    expect(response.headers.get('content-type')).toContain('application/openmetrics-text; version=1.0.0');
    expect(await response.text()).toMatch(/\n# EOF\n$/);
  });

  test('is live at once, and ready when caches are synced', async () => {
    const { url } = await start(anyPort);
    const status = async (path: string) => (await fetch(url + path)).status;
    expect([await status('/healthz'), await status('/livez?verbose'), await status('/readyz')]).toEqual([
      200, 200, 503,
    ]);
    ready = true;
    expect(await status('/readyz')).toBe(200);
  });

  test('lists failed checks with their reasons, in the format of kube-apiserver', async () => {
    const { url } = await start(anyPort);
    const body = async (path: string) => (await fetch(url + path)).text();
    expect(await body('/livez')).toBe('ok');
    expect(await body('/livez?verbose')).toBe('[+]ping ok\n[+]event-loop ok\nlivez check passed\n');
    expect(await body('/readyz')).toBe('[+]ping ok\n[-]caches/c failed: caches not synced\nreadyz check failed\n');
    expect(await body('/readyz?verbose&exclude=caches/c')).toContain('[+]caches/c ok: excluded\n');
    expect((await fetch(`${url}/readyz/caches/c`)).status).toBe(503);
    expect((await fetch(`${url}/readyz/ping`)).status).toBe(200);
    expect((await fetch(`${url}/readyz/%ff`)).status).toBe(404);
  });

  test('answers HEAD, and 404 for unknown paths', async () => {
    const { url } = await start(anyPort);
    expect((await fetch(`${url}/metrics`, { method: 'HEAD' })).status).toBe(200);
    expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405);
    expect((await fetch(`${url}/debug`)).status).toBe(404);
  });

  describe('the log level', () => {
    const put = (url: string, body: string) => fetch(`${url}/debug/log-level`, { method: 'PUT', body });

    test('can be read and changed from the same host', async () => {
      const log = { level: 'info' as LogLevel };
      const { url } = await start(anyPort, log);
      expect(await (await fetch(`${url}/debug/log-level`)).text()).toBe('info\n');
      expect((await put(url, 'debug\n')).status).toBe(200);
      expect(log.level).toBe('debug');
    });

    test('does not change to an invalid level', async () => {
      const log = { level: 'info' as LogLevel };
      const { url } = await start(anyPort, log);
      for (const body of ['', 'verbose', 'x'.repeat(1_000_000)]) {
        const response = await put(url, body);
        expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('debug, info, warn')]);
      }
      expect(log.level).toBe('info');
      expect((await fetch(`${url}/debug/log-level`, { method: 'POST', body: 'debug' })).status).toBe(405);
    });

    test.each([
      ['10.0.0.7', 'localhost:10270'],
      // DNS rebinding: a page of this name, in a browser on this machine.
      ['127.0.0.1', 'rebound.example:10270'],
      ['127.0.0.1', 'localhost.rebound.example'],
      ['127.0.0.1', '127.0.0.1.rebound.example'],
      ['127.0.0.1', undefined],
    ])('cannot be changed from %s as %s', async (remoteAddress, host) => {
      const log = { level: 'info' as LogLevel };
      for (const method of ['GET', 'PUT']) {
        const request = { method, headers: { host }, socket: { remoteAddress } } as IncomingMessage;
        expect((await answerLogLevel(request, log)).status).toBe(403);
      }
      expect(log.level).toBe('info');
    });

    test.each(['localhost', 'LOCALHOST:10270', '127.0.0.1:1', '127.8.0.1', '[::1]', '[::1]:10270'])(
      'can be read as %s',
      async (host) => {
        const request = { method: 'GET', headers: { host }, socket: { remoteAddress: '::1' } } as IncomingMessage;
        expect((await answerLogLevel(request, { level: 'warn' })).status).toBe(200);
      },
    );
  });

  test('rejects a configured address that is in use, naming it', async () => {
    const { url } = await start(anyPort);
    const taken = parseBindAddress(url.replace('http://', ''));
    await expect(start(taken ?? undefined)).rejects.toThrow(
      /^--metrics-bind-address 127\.0\.0\.1:\d+: 127\.0\.0\.1:\d+ is in use; choose another address, or 0 to disable it$/,
    );
  });

  test('uses a free port if the default address is in use', async () => {
    const [first, second] = [await start(undefined), await start(undefined)];
    expect(first.url).not.toBe(second.url);
    expect((await fetch(`${second.url}/livez`)).status).toBe(200);
  });
});

const loopback = { host: '127.0.0.1' };
const all = { host: '' };

test.each([
  ['localhost:10270', loopback],
  ['127.0.0.1:10270', loopback],
  ['[::1]:10270', { host: '::1' }],
  ['watcher:10270', all],
  ['10.1.2.3:10270', all],
])('a request to %s is answered', (host, at) => {
  expect(isFromBrowserPage({ host }, at)).toBe(false);
});

test.each(['evil.example:10270', '', '127.0.0.1.evil.example'])(
  'a server on loopback is not accessible as "%s"',
  (host) => {
    expect(isFromBrowserPage({ host }, loopback)).toBe(true);
  },
);

test('a page of another site cannot load it, a person can follow a link to it', () => {
  const headers = { host: 'localhost:10270', 'sec-fetch-site': 'cross-site' } as const;
  expect(isFromBrowserPage({ ...headers, 'sec-fetch-mode': 'no-cors' }, loopback)).toBe(true);
  expect(isFromBrowserPage({ ...headers, 'sec-fetch-mode': 'navigate' }, loopback)).toBe(false);
  expect(isFromBrowserPage({ ...headers, 'sec-fetch-site': 'same-origin' }, loopback)).toBe(false);
});
