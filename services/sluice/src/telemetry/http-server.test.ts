import { silentLogger } from '@sluice/runtime';
import { Metrics } from '@sluice/telemetry';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseBindAddress } from './bind-address.ts';
import type { TelemetryServer } from './http-server.ts';
import { startTelemetry } from './start-telemetry.ts';

const anyPort = { host: '127.0.0.1', port: 0 };
const metrics = new Metrics({ clusters: new Map() });
let ready: boolean;
let servers: TelemetryServer[];

beforeEach(() => {
  ready = false;
  servers = [];
});

afterEach(() => Promise.all(servers.map((server) => server.close())));

async function start(at: Parameters<typeof startTelemetry>[0]): Promise<TelemetryServer> {
  const server = await startTelemetry(at, { metrics, ready: () => ready }, silentLogger);
  if (server === undefined) throw new Error('not served');
  servers.push(server);
  return server;
}

test('serves metrics in the text format, those of the process among them', async () => {
  const { url } = await start(anyPort);
  const response = await fetch(`${url}/metrics`);
  expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
  const text = await response.text();
  expect(text).toMatch(/^process_cpu_seconds_total \d/m);
  expect(text).toMatch(/^# TYPE endpoint_slice_controller_changes counter$/m);
});

test('is live at once, and ready when all lists are in', async () => {
  const { url } = await start(anyPort);
  const status = async (path: string) => (await fetch(url + path)).status;
  expect([await status('/healthz'), await status('/livez?verbose'), await status('/readyz')]).toEqual([200, 200, 503]);
  ready = true;
  expect(await status('/readyz')).toBe(200);
});

test('answers HEAD, and nothing that it does not know', async () => {
  const { url } = await start(anyPort);
  expect((await fetch(`${url}/metrics`, { method: 'HEAD' })).status).toBe(200);
  expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405);
  expect((await fetch(`${url}/debug`)).status).toBe(404);
});

test('an address that was given and is taken is an error that names it', async () => {
  const { url } = await start(anyPort);
  const taken = parseBindAddress(url.replace('http://', ''));
  await expect(start(taken ?? undefined)).rejects.toThrow(
    /^--metrics-bind-address 127\.0\.0\.1:\d+: 127\.0\.0\.1:\d+ is in use; give another one, or 0 for none$/,
  );
});

test('without one, a second process on the machine gets a port of its own', async () => {
  const [first, second] = [await start(undefined), await start(undefined)];
  expect(first.url).not.toBe(second.url);
  expect((await fetch(`${second.url}/livez`)).status).toBe(200);
});
