import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { get as httpsGet } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { MemoryBus } from '@sluice/bus';
import type { ConsoleConfiguration } from '@sluice/fleet/configuration';
import { makeServingCertificate } from '@sluice/local';
import { aborted, seededRandom, VirtualClock } from '@sluice/platform';
import { createLogger, systemClock } from '@sluice/platform/process';
import { advance } from '@sluice/platform/testing';
import { MemoryClusterDirectory, MemoryDeadLetters, MemoryDocument, MemoryLeases, MemoryStore } from '@sluice/store';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type ConsoleRoleOptions, type RunningConsole, startConsoleRole } from './console-role.ts';

const directory = mkdtempSync(join(tmpdir(), 'sluice-console-'));
let tls: { readonly cert: string; readonly key: string };
let ca: string;
let running: RunningConsole | undefined;

beforeAll(async () => {
  const files = await makeServingCertificate(directory, 'sluice-console');
  tls = { cert: readFileSync(files.certificate, 'utf8'), key: readFileSync(files.key, 'utf8') };
  ca = readFileSync(files.ca, 'utf8');
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

const plain: ConsoleConfiguration = {
  ...{ bindAddress: { host: '127.0.0.1', port: 0 }, hosts: [], token: undefined, tls: undefined },
  authorizationMode: 'token',
  ...{ maxBytes: 1024 ** 2, maxServices: 100, retentionMs: 60_000, jaegerUrl: undefined, jaegerQueryUrl: undefined },
  ...{ lostClusters: { action: 'age-out', maxAgeMs: 600_000 }, serviceNameLabel: undefined },
  degraded: { afterMs: 60_000, below: 0.5 },
};

async function start(
  given: Partial<ConsoleConfiguration>,
  bus = new MemoryBus({ partitions: 2 }),
  more: Partial<Pick<ConsoleRoleOptions, 'clock' | 'reread' | 'reviewing'>> = {},
) {
  const infrastructure = {
    ...{ bus, store: new MemoryStore(), leases: new MemoryLeases(systemClock), deadLetters: new MemoryDeadLetters() },
    ...{
      directory: new MemoryClusterDirectory(),
      clusterPins: new MemoryDocument(),
      close: async () => 'closed' as const,
    },
  };
  const configuration = { console: { ...plain, ...given }, metricsBindAddress: undefined };
  const ports = { clock: systemClock, random: seededRandom(1), logger: createLogger('text', 'error') };
  running = await startConsoleRole({ infrastructure, configuration, ...ports, ...more });
  return running;
}

test('serves page, API and metrics, and is ready once the history is loaded', async () => {
  const { url } = await start({});
  await expect.poll(async () => (await fetch(`${url}/readyz`)).text()).toBe('ok');
  expect((await fetch(url)).headers.get('content-type')).toContain('text/html');
  expect(await (await fetch(`${url}/api/v1/partitions`)).json()).toMatchObject({
    items: [{ owner: '' }, { owner: '' }],
  });
  expect(await (await fetch(`${url}/metrics`)).text()).toContain('sluice_console_partitions_backfilling 0');
});

test('is not ready while it cannot read the bus, with the reason', async () => {
  const bus = new MemoryBus({ partitions: 2 });
  bus.beginning = () => new Promise(() => {});
  const { url } = await start({}, bus);
  const answer = await fetch(`${url}/readyz`);
  expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('history not loaded')]);
  expect((await fetch(`${url}/livez`)).status).toBe(200);
});

test('keeps the history of as many Services as is configured, and says so', async () => {
  const bus = new MemoryBus({ partitions: 2 });
  const record = (name: string) => ({ id: name, key: `uid/shop/${name}`, headers: {}, payload: new Uint8Array() });
  await bus.append('changes', 0, ['web', 'cart', 'mail'].map(record));
  const { url } = await start({ maxServices: 2 }, bus);
  const overview = async () => (await fetch(`${url}/api/v1/overview`)).json();
  await expect.poll(overview).toMatchObject({ servicesLimit: 2 });
  expect(await (await fetch(`${url}/metrics`)).text()).toContain('sluice_console_services 2');
});

test('serves TLS with a token, under its own host name only', async () => {
  const { url } = await start({ tls, token: 'secret', hosts: ['sluice.example.com'] });
  expect(url).toMatch(/^https:/);
  const ask = (path: string, headers: Record<string, string>) =>
    new Promise<{ readonly status: number | undefined; readonly cookie: string }>((resolve, reject) => {
      httpsGet(`${url}${path}`, { ca, headers, servername: 'localhost' }, (response) => {
        response.resume();
        resolve({ status: response.statusCode, cookie: String(response.headers['set-cookie']) });
      }).on('error', reject);
    });
  const authorization = 'Bearer secret';
  expect((await ask('/api/v1/overview', {})).status).toBe(401);
  expect((await ask('/api/v1/overview', { authorization })).status).toBe(200);
  expect((await ask('/api/v1/overview', { authorization, host: 'sluice.example.com' })).status).toBe(200);
  expect((await ask('/api/v1/overview', { authorization, host: 'other.example.com' })).status).toBe(421);
  expect((await ask('/?token=secret', {})).cookie).toContain('; Secure');
  expect((await ask('/livez', {})).status).toBe(200);
});

test('serves a replaced certificate and requires the replaced token, without a restart', async () => {
  const clock = new VirtualClock(systemClock.now());
  let given: Partial<ConsoleConfiguration> = { tls, token: 'old' };
  const reread = () => ({ console: { ...plain, ...given } });
  const { url } = await start(given, new MemoryBus({ partitions: 2 }), { clock, reread });
  const files = await makeServingCertificate(directory, 'replaced');
  const ask = (token: string) =>
    new Promise<readonly unknown[]>((resolve, reject) => {
      const options = { rejectUnauthorized: false, agent: false, headers: { authorization: `Bearer ${token}` } };
      httpsGet(`${url}/api/v1/overview`, options, (response) => {
        response.resume();
        const { subject } = (response.socket as TLSSocket).getPeerCertificate();
        resolve([response.statusCode, subject.CN]);
      }).on('error', reject);
    });
  expect(await ask('old')).toEqual([200, 'sluice-console']);
  given = {
    token: 'new',
    tls: { cert: readFileSync(files.certificate, 'utf8'), key: readFileSync(files.key, 'utf8') },
  };
  await advance(clock, 60_000);
  expect(await ask('old')).toEqual([401, 'replaced']);
  expect(await ask('new')).toEqual([200, 'replaced']);
});

test('with clusters that review readers, nothing is served without a token, or while none of them is identified', async () => {
  let isRunning = false;
  const reviewing = {
    accesses: new Map(),
    run: async (signal: AbortSignal) => {
      isRunning = true;
      await aborted(signal);
      isRunning = false;
    },
  };
  const { url } = await start({ authorizationMode: 'cluster' }, new MemoryBus({ partitions: 2 }), { reviewing });
  expect((await fetch(`${url}/api/v1/services`)).status).toBe(401);
  const authorization = 'Bearer of-a-reader';
  expect((await fetch(`${url}/api/v1/services`, { headers: { authorization } })).status).toBe(503);
  expect((await fetch(`${url}/livez`)).status).toBe(200);
  expect(isRunning).toBe(true);
  await running?.stop();
  expect(isRunning).toBe(false);
  running = undefined;
});

test('reports why it cannot listen', async () => {
  await expect(start({ tls: { ...tls, key: 'nonsense' } })).rejects.toThrow('invalid certificate or key');
  const { url } = await start({});
  const taken = { host: '127.0.0.1', port: Number(new URL(url).port) };
  const stop = running?.stop;
  await expect(start({ bindAddress: taken })).rejects.toThrow(/--console-bind-address 127\.0\.0\.1:\d+: .* in use/);
  await stop?.();
});
