import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MemoryBus } from '@sluice/bus';
import { History, tapBus } from '@sluice/console';
import { controllers, register } from '@sluice/controllers';
import { ApiServerHttp, FakeApiServer, FakeClient, kubeconfigOf } from '@sluice/fake-apiserver';
import { toSettings } from '@sluice/fleet/configuration';
import { resolve } from '@sluice/fleet/configuration/testing';
import { type Clock, seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { advance } from '@sluice/platform/testing';
import { defaultSettings } from '@sluice/service-state';
import { startAllInOne, startRole } from '@sluice/sluice';
import { MemoryClusterDirectory, MemoryDeadLetters, MemoryLeases, MemoryStore } from '@sluice/store';
import { Metrics } from '@sluice/telemetry';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { nodeObject, podObject } from './harness/objects.ts';
import { readySlicesController } from './ready-slices/controller.ts';

/** A controller that only its own folder and its registration name (docs/contributing/controllers.md). */
beforeEach(() => register(readySlicesController));

const since = '2026-01-01T00:00:00Z';
const pod = (name: string, ip: string, ready: boolean) =>
  podObject({ name, labels: { app: 'db' }, ips: [ip], ready, node: 'n1', since });

/** A headless Service with one ready Pod and one that is not. */
function serverWith(clock: Clock): FakeApiServer {
  const server = new FakeApiServer({ clock, random: seededRandom(1) });
  server.create('namespaces', { metadata: { name: 'shop' } });
  server.put('nodes', nodeObject('n1', 'a'));
  server.create('services', {
    metadata: { name: 'db', namespace: 'shop' },
    spec: { clusterIP: 'None', selector: { app: 'db' }, ports: [{ port: 5432 }] },
  });
  server.put('pods', pod('db-0', '10.0.0.1', true));
  server.put('pods', pod('db-1', '10.0.0.2', false));
  return server;
}

/** Addresses of each slice of the controller. */
const written = (server: FakeApiServer) =>
  server
    .list('endpointslices')
    .items.filter((slice) => labelsOf(slice)?.['endpointslice.kubernetes.io/managed-by'] === 'ready-slices.example.com')
    .map((slice) => ((slice.endpoints ?? []) as { addresses: string[] }[]).flatMap(({ addresses }) => addresses));

const labelsOf = ({ metadata }: { readonly metadata?: unknown }) =>
  (metadata as { readonly labels?: Readonly<Record<string, string>> }).labels;

function clientsOf(server: FakeApiServer, clock: Clock) {
  const client = new FakeClient(server, { clock });
  return { reader: client, writer: client };
}

test('in one process it decides, writes, counts and is shown by the console', async () => {
  const clock = new VirtualClock(Date.parse(since));
  const server = serverWith(clock);
  const history = new History({ clock });
  const metrics = new Metrics({ clusters: new Map(), process: false });
  const fleet = startAllInOne({
    clusters: [{ name: 'c', identity: server.identity, ...clientsOf(server, clock), record: () => {} }],
    ...{
      settings: { ...defaultSettings, controllers: new Set(controllers) },
      clock,
      random: seededRandom(2),
      logger: silentLogger,
      metrics,
    },
    tap: (bus) => tapBus(bus, history),
  });
  onTestFinished(() => fleet.stop(0));
  await advance(clock, 1_000);
  expect(written(server)).toEqual([['10.0.0.1']]);

  server.put('pods', pod('db-1', '10.0.0.2', true));
  await advance(clock, 1_000);
  expect(written(server)).toEqual([['10.0.0.1', '10.0.0.2']]);

  const journal = history.get({ cluster: server.identity, namespace: 'shop', service: 'db' });
  const shown = journal?.entries.flatMap((entry) =>
    'controller' in entry && entry.controller === 'readyslices' ? [entry.kind] : [],
  );
  expect(shown).toEqual(['decided', 'completed', 'decided', 'completed']);

  const exposed = await metrics.text();
  expect(exposed).toContain('ready_slices_controller_ready_addresses_per_sync_sum 3');
  expect(exposed).toContain('workqueue_adds_total{name="ready_slices"} 2');

  server.delete('services', 'shop', 'db');
  await advance(clock, 1_000);
  expect(written(server)).toEqual([]);
});

test('its settings have flags, which the help lists, and a place in the file', async () => {
  const preload = join(import.meta.dirname, 'ready-slices', 'register.ts');
  const main = join(import.meta.dirname, '..', 'services', 'sluice', 'src', 'main.ts');
  const sluice = (...args: readonly string[]) =>
    promisify(execFile)(process.execPath, ['--import', preload, main, ...args]).then(({ stdout }) => stdout);
  const help = await sluice('run', '--help');
  expect(help).toContain('--ready-slices-updates-batch-period <duration>');
  expect(help).toContain('--concurrent-ready-slice-syncs <n>');
  const flags = ['--ready-slices-updates-batch-period', '2s', '--concurrent-ready-slice-syncs', '7'];
  const shown = await sluice('config', ...flags);
  expect(shown).toContain('readySlicesUpdatesBatchPeriod: 2s # flag --ready-slices-updates-batch-period');
  expect(shown).toContain('concurrentReadySliceSyncs: 7 # flag --concurrent-ready-slice-syncs');
});

test('its batch period delays its own writes, and no others', async () => {
  const clock = new VirtualClock(Date.parse(since));
  const server = serverWith(clock);
  const { controllers: section } = resolve({}).configuration;
  const fleet = startAllInOne({
    clusters: [{ name: 'c', identity: server.identity, ...clientsOf(server, clock), record: () => {} }],
    settings: toSettings({ ...section, enabled: new Set(controllers), readySlicesUpdatesBatchPeriod: 5_000 }),
    ...{ clock, random: seededRandom(2), logger: silentLogger },
  });
  onTestFinished(() => fleet.stop(0));
  await advance(clock, 10_000);
  server.put('pods', pod('db-1', '10.0.0.2', true));
  await advance(clock, 2_000);
  expect(written(server)).toEqual([['10.0.0.1']]);
  expect(JSON.stringify(server.list('endpoints').items)).not.toContain('notReadyAddresses');
  await advance(clock, 4_000);
  expect(written(server)).toEqual([['10.0.0.1', '10.0.0.2']]);
});

test('in a worker it runs alone if --controllers names it', async () => {
  const clock = systemClock;
  const server = serverWith(clock);
  const http = new ApiServerHttp({ server, clock });
  const directory = mkdtempSync(join(tmpdir(), 'sluice-fourth-'));
  const kubeconfig = join(directory, 'kubeconfig');
  writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(await http.listen(), 'west')), { mode: 0o600 });
  const { configuration } = resolve({
    flags: {
      ...{ '--kubeconfig': kubeconfig, '--cluster-name': 'west', '--metrics-bind-address': '0' },
      '--controllers': 'ready-slices-controller',
    },
  });
  const worker = startRole({
    ...{ role: 'worker', member: 'a', configuration, environment: {} },
    infrastructure: {
      ...{ bus: new MemoryBus({ partitions: 2 }), store: new MemoryStore(), leases: new MemoryLeases(clock) },
      ...{ deadLetters: new MemoryDeadLetters(), directory: new MemoryClusterDirectory() },
    },
    ...{ clock, random: seededRandom(2), logger: silentLogger },
  });
  onTestFinished(async () => {
    await worker.stop(1_000);
    await http.close();
    rmSync(directory, { recursive: true, force: true });
  });
  await expect.poll(() => written(server)).toEqual([['10.0.0.1']]);
  server.put('pods', pod('db-0', '10.0.0.1', false));
  await expect.poll(() => written(server)).toEqual([[]]);
  expect(server.list('endpointslices').items).toHaveLength(1);
  expect(server.list('endpoints').items).toEqual([]);
});
