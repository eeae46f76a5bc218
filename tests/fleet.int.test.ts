import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { RoleProcess } from '@sluice/demo/distributed';
import { ApiServerHttp, FakeApiServer, kubeconfigOf, type Population, populate } from '@sluice/fake-apiserver';
import { loadConfiguration } from '@sluice/fleet/configuration/load';
import { openInfrastructure } from '@sluice/fleet/roles';
import { type RedisServer, type RunningServer, startKafka, startNats, startRedis } from '@sluice/local';
import { randomInteger, seededRandom, silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import type { Role } from '@sluice/sluice';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/**
 * A fleet of processes on a real bus and a real Redis, with a fake API server. Chaos tests what happens when they crash.
 */
const [services, podsPerService, partitions] = [20, 4, 8];
const main = fileURLToPath(new URL('../services/sluice/src/main.ts', import.meta.url));
const seed = Number(process.env.SEED ?? 1);
const random = seededRandom(seed);

interface BusServer {
  /** Section `bus` of the configuration file. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly server: RunningServer;
}

const startBus = {
  NATS: async (directory: string): Promise<BusServer> => {
    const server = await startNats({ directory });
    return { server, settings: { servers: [server.url] } };
  },
  Kafka: async (directory: string): Promise<BusServer> => {
    const server = await startKafka({ directory });
    return { server, settings: { servers: [`kafka://${server.broker}`], replicas: 1, minInsyncReplicas: 1 } };
  },
} as const;

let directory: string;
let configuration: string;
let redis: RedisServer;
let bus: RunningServer;
let server: FakeApiServer;
let http: ApiServerHttp;
let population: Population;
let log: string[];
const processes = new Map<string, RoleProcess>();
/** Readiness of each Pod of each Service. */
let ready: boolean[][];

async function startFleet(kind: keyof typeof startBus): Promise<void> {
  directory = mkdtempSync(join(tmpdir(), 'sluice-fleet-'));
  configuration = join(directory, 'sluice.json');
  log = [];
  ready = Array.from({ length: services }, () => Array.from({ length: podsPerService }, () => true));
  redis = await startRedis({ directory: join(directory, 'redis') });
  const { server: busServer, settings } = await startBus[kind](join(directory, 'bus'));
  bus = busServer;
  writeFileSync(configuration, JSON.stringify({ partitions, bus: settings, store: { url: [redis.url] } }));
  server = new FakeApiServer({ clock: systemClock, random: seededRandom(seed) });
  population = populate(server, { services, podsPerService, now: systemClock.now() });
  http = new ApiServerHttp({ server, clock: systemClock });
  writeFileSync(join(directory, 'kubeconfig.json'), JSON.stringify(kubeconfigOf(await http.listen(), 'c')));
  for (const role of ['watcher', 'reconciler', 'writer'] as const) {
    for (const n of [1, 2]) start(role, n);
  }
}

async function stopFleet(): Promise<void> {
  for (const { child } of processes.values()) child.kill('SIGKILL');
  processes.clear();
  await http?.close();
  await bus?.stop();
  await redis?.stop();
  rmSync(directory, { recursive: true, force: true });
}

function start(role: Role, n: number): void {
  const name = `${role}-${n}`;
  const cluster = role === 'reconciler' ? [] : ['--kubeconfig', join(directory, 'kubeconfig.json')];
  const flags = ['--config', configuration, '--metrics-bind-address', '0'];
  const onLine = (from: string, line: string) => log.push(`${from}: ${line}`);
  processes.set(name, new RoleProcess(name, role, [...flags, ...cluster], onLine));
}

function flip(): void {
  const [service, pod] = [randomInteger(random, 0, services - 1), randomInteger(random, 0, podsPerService - 1)];
  const of = ready[service];
  if (of === undefined) return;
  of[pod] = !of[pod];
  server.put('pods', population.podObject(service, pod, of[pod]));
}

interface Slice {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly endpoints: readonly {
    readonly targetRef: { readonly name: string };
    readonly conditions: { readonly ready: boolean };
  }[];
}

/** The Services whose slices differ from the Pods. */
function differences(): string[] {
  const slices = server.list('endpointslices').items as unknown as Slice[];
  return population.services.flatMap(({ name }, service) => {
    const own = slices.filter(({ metadata }) => metadata.labels['kubernetes.io/service-name'] === name);
    const written = own.flatMap(({ endpoints }) =>
      endpoints.map(({ targetRef, conditions }) => `${targetRef.name} ${conditions.ready}`),
    );
    const wanted = (ready[service] ?? []).map((isReady, pod) => `${population.pod(service, pod).name} ${isReady}`);
    const same = own.length === 1 && written.sort().join() === wanted.sort().join();
    return same ? [] : [`${name}: ${own.length} slices, ${written.join()} instead of ${wanted.join()}`];
  });
}

async function converged(): Promise<void> {
  await expect
    .poll(differences)
    .toEqual([])
    .catch((error) => {
      throw new Error(`seed ${seed}\n${log.slice(-40).join('\n')}`, { cause: error });
    });
}

describe.each(['NATS', 'Kafka'] as const)('a fleet of processes on %s', (kind) => {
  beforeAll(() => startFleet(kind));
  afterAll(stopFleet);

  test('writes the slices of all Services', converged);

  test('follows changes', async () => {
    for (let i = 0; i < 50; i++) flip();
    await converged();
  });

  test('dead-letters records that it cannot decode, continues, and lists them', async () => {
    const ports = { clock: systemClock, random, logger: silentLogger };
    const fleet = await openInfrastructure(
      loadConfiguration({ file: configuration, environment: {}, flags: {} }),
      ports,
    );
    const payload = new TextEncoder().encode('{"version":"9.0"}');
    for (const topic of ['changes', 'mutations'] as const) {
      await fleet.bus.append(topic, 3, [{ key: 'c/shop/web', id: `garbage ${topic}`, headers: {}, payload }]);
    }
    flip();
    await converged();
    await expect.poll(async () => (await fleet.deadLetters.list()).length).toBeGreaterThanOrEqual(2);
    await fleet.close();
    const sluice = async (...args: string[]) =>
      (await promisify(execFile)(process.execPath, [main, ...args, '--config', configuration])).stdout;
    const listed = await sluice('dead-letters', 'list');
    const names = [...listed.matchAll(/^((?:changes|mutations)\/3\/\d+) .*version 9\.0/gm)].map(
      ([, name = '']) => name,
    );
    expect(names.map((name) => name.split('/')[0]).sort(), listed).toEqual(['changes', 'mutations']);
    expect(await sluice('dead-letters', 'show', names[0] ?? '')).toContain('{"version":"9.0"}');
    expect(await sluice('dead-letters', 'drop', '--dry-run', ...names)).toBe(
      names.map((name) => `${name} would be dropped\n`).join(''),
    );
    // The dry run has left them, otherwise they are not found.
    await sluice('dead-letters', 'drop', ...names);
    expect(await sluice('dead-letters', 'list')).toBe('No dead letters.\n');
  });

  test('hands over and exits with status 0 on SIGTERM', async () => {
    const ended = await Promise.all(
      [...processes.values()].map(async (process) => {
        await process.stop();
        return process.exited;
      }),
    );
    expect(ended).toEqual(ended.map(() => 'exit status 0'));
  });
});
