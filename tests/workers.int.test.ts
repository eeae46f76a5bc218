import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RoleProcess } from '@sluice/demo/distributed';
import { ApiServerHttp, FakeApiServer, kubeconfigOf, type Population, populate } from '@sluice/fake-apiserver';
import { loadConfiguration } from '@sluice/fleet/configuration/load';
import { type OpenInfrastructure, openInfrastructure } from '@sluice/fleet/roles';
import { type RedisServer, type RunningServer, startKafka, startNats, startRedis } from '@sluice/local';
import { seededRandom, silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpointDifferences } from './harness/expected-endpoints.ts';

/** A fleet of workers on a real bus and a real Redis. One is killed while Pods change. */
const [services, podsPerService, partitions] = [20, 3, 8];

let root: string;
let redis: RedisServer;
let bus: RunningServer;
let configuration: string;
let server: FakeApiServer;
let http: ApiServerHttp;
let population: Population;
let infrastructure: OpenInfrastructure;
const workers: RoleProcess[] = [];
const log: string[] = [];

/** Starts the bus and returns the section `bus` of the configuration. */
const startBus = {
  NATS: async (directory: string) => {
    const nats = await startNats({ directory });
    bus = nats;
    return { servers: [nats.url] };
  },
  Kafka: async (directory: string) => {
    const kafka = await startKafka({ directory });
    bus = kafka;
    return { servers: [`kafka://${kafka.broker}`], replicas: 1, minInsyncReplicas: 1 };
  },
} as const;

async function open(kind: keyof typeof startBus): Promise<void> {
  root = mkdtempSync(join(tmpdir(), 'sluice-workers-'));
  redis = await startRedis({ directory: join(root, 'redis') });
  const settings = await startBus[kind](join(root, 'bus'));
  server = new FakeApiServer({ clock: systemClock, random: seededRandom(1) });
  population = populate(server, { services, podsPerService, now: systemClock.now() });
  http = new ApiServerHttp({ server, clock: systemClock });
  writeFileSync(join(root, 'kubeconfig'), JSON.stringify(kubeconfigOf(await http.listen(), 'west')), { mode: 0o600 });
  configuration = join(root, 'sluice.json');
  writeFileSync(configuration, JSON.stringify({ partitions, bus: settings, store: { url: [redis.url] } }));
  const ports = { clock: systemClock, random: seededRandom(2), logger: silentLogger };
  const loaded = loadConfiguration({ file: configuration, environment: {}, flags: {} });
  infrastructure = await openInfrastructure(loaded, ports);
}

async function close(): Promise<void> {
  for (const { child } of workers.splice(0)) child.kill('SIGKILL');
  log.length = 0;
  await infrastructure?.close();
  await http?.close();
  await bus?.stop();
  await redis?.stop();
  rmSync(root, { recursive: true, force: true });
}

function start(name: string): RoleProcess {
  const flags = ['--config', configuration, '--kubeconfig', join(root, 'kubeconfig'), '--metrics-bind-address', '0'];
  const worker = new RoleProcess(name, 'worker', flags, (from, line) => log.push(`${from}: ${line}`));
  workers.push(worker);
  return worker;
}

/** The PIDs of the processes that hold leases of each group. */
async function holders() {
  const of = async (group: string) => {
    const { leases } = await infrastructure.leases.state(group);
    return [...new Set(leases.map(({ holder }) => Number(holder.split('-').at(-2))))].sort((a, b) => a - b);
  };
  const watcher = await of('watcher');
  return { watcher, reconciler: await of('reconciler'), writer: await of('writer') };
}

const differences = () => endpointDifferences(server);

const withLog = (error: unknown): never => {
  throw new Error(`${error}\n${log.slice(-30).join('\n')}`, { cause: error });
};

describe.each(['NATS', 'Kafka'] as const)('a fleet of workers on %s', (kind) => {
  beforeAll(() => open(kind));
  afterAll(close);

  test('a second worker shares the work of the first, and takes over all of it when that is killed while Pods change', async () => {
    const first = start('first');
    await expect.poll(differences).toEqual([]).catch(withLog);
    const second = start('second');
    const both = [Number(first.pid), Number(second.pid)].sort((a, b) => a - b);
    await expect
      .poll(holders)
      .toEqual({ watcher: [first.pid], reconciler: both, writer: both })
      .catch(withLog);
    for (let service = 0; service < services; service++) server.put('pods', population.podObject(service, 0, false));
    first.child.kill('SIGKILL');
    for (let service = 0; service < services; service++) server.put('pods', population.podObject(service, 1, false));
    await first.exited;
    await expect.poll(differences).toEqual([]).catch(withLog);
    const alone = { watcher: [second.pid], reconciler: [second.pid], writer: [second.pid] };
    await expect.poll(holders).toEqual(alone).catch(withLog);
    server.put('pods', population.podObject(0, 0, true));
    await expect.poll(differences).toEqual([]).catch(withLog);
    await second.stop();
    expect(await holders(), 'a worker that stops releases its leases').toEqual({
      watcher: [],
      reconciler: [],
      writer: [],
    });
  });
});
