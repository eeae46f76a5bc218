import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ApiServerHttp, FakeApiServer, kubeconfigOf, type Population, populate } from '@sluice/fake-apiserver';
import { type Nats, type RedisServer, startNats, startRedis } from '@sluice/local';
import { randomInteger, seededRandom, silentLogger } from '@sluice/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openInfrastructure } from '../roles/open-infrastructure.ts';
import type { Role } from '../roles/start-role.ts';
import { systemClock } from '../system/clock.ts';
import { RoleProcess } from './role-process.ts';

/** A fleet of processes on real NATS and Redis, and a simulated API server: whatever dies, what is written comes right. */
const [services, podsPerService, partitions] = [20, 4, 8];
const main = fileURLToPath(new URL('../main.ts', import.meta.url));
const seed = Number(process.env.SEED ?? 1);
const random = seededRandom(seed);

let directory: string;
let redis: RedisServer;
let nats: Nats;
let server: FakeApiServer;
let http: ApiServerHttp;
let population: Population;
let log: string[];
const processes = new Map<string, RoleProcess>();
/** By Service and Pod, whether it is ready now. */
const ready: boolean[][] = Array.from({ length: services }, () => Array.from({ length: podsPerService }, () => true));

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-fleet-'));
  log = [];
  redis = await startRedis({ directory: join(directory, 'redis') });
  nats = await startNats({ directory: join(directory, 'nats') });
  server = new FakeApiServer({ clock: systemClock, random: seededRandom(seed) });
  population = populate(server, { services, podsPerService, now: systemClock.now() });
  http = new ApiServerHttp({ server, clock: systemClock });
  writeFileSync(join(directory, 'kubeconfig.json'), JSON.stringify(kubeconfigOf(await http.listen(), 'c')));
  for (const role of ['watcher', 'reconciler', 'writer'] as const) {
    for (const n of [1, 2]) start(role, n);
  }
}, 300_000);

afterAll(async () => {
  for (const { child } of processes.values()) child.kill('SIGKILL');
  await http.close();
  await nats.stop();
  await redis.stop();
  rmSync(directory, { recursive: true, force: true });
});

const where = () => ['--bus', nats.url, '--store', redis.url, '--partitions', String(partitions)];

function start(role: Role, n: number): void {
  const name = `${role}-${n}`;
  const cluster = role === 'reconciler' ? [] : ['--kubeconfig', join(directory, 'kubeconfig.json')];
  const onLine = (from: string, line: string) => log.push(`${from}: ${line}`);
  processes.set(name, new RoleProcess(name, role, [...where(), '--metrics-bind-address', '0', ...cluster], onLine));
}

function processOf(name: string): RoleProcess {
  const found = processes.get(name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
}

function flip(): void {
  const [service, pod] = [randomInteger(random, 0, services - 1), randomInteger(random, 0, podsPerService - 1)];
  const of = ready[service];
  if (of === undefined) return;
  of[pod] = !of[pod];
  server.put('pods', population.podObject(service, pod, of[pod]));
}

/** Flips Pods all the while that something else goes on. */
async function churn(meanwhile: () => Promise<void>): Promise<void> {
  let over = false;
  const flipping = (async () => {
    while (!over) {
      flip();
      await sleep(20);
    }
  })();
  await meanwhile();
  over = true;
  await flipping;
}

interface Slice {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly endpoints: readonly {
    readonly targetRef: { readonly name: string };
    readonly conditions: { readonly ready: boolean };
  }[];
}

/** Per Service, what is wrong with what is written; nothing once all is right. */
function wrong(): string[] {
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

async function settled(): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (wrong().length > 0 && performance.now() < deadline) await sleep(50);
  expect(wrong(), `seed ${seed}\n${log.slice(-40).join('\n')}`).toEqual([]);
}

describe('a fleet of processes', () => {
  test('writes what all Services need', settled, 120_000);

  test('follows what changes', async () => {
    for (let i = 0; i < 50; i++) flip();
    await settled();
  }, 120_000);

  test.each(['reconciler-1', 'writer-1', 'watcher-1', 'watcher-2'])(
    'loses nothing when %s is killed under churn, nor when it comes back',
    async (name) => {
      const [role = '', n = ''] = name.split('-');
      await churn(async () => {
        await sleep(300);
        processOf(name).child.kill('SIGKILL');
        await processOf(name).ended;
        await sleep(1_500);
        start(role as Role, Number(n));
        await sleep(1_500);
      });
      await settled();
    },
    180_000,
  );

  test.each(['reconciler-2', 'writer-2'])(
    'loses nothing when %s is frozen for longer than its lease',
    async (name) => {
      await churn(async () => {
        processOf(name).child.kill('SIGSTOP');
        await sleep(2_500);
        processOf(name).child.kill('SIGCONT');
        await sleep(500);
      });
      await settled();
    },
    180_000,
  );

  test.each([
    [
      'NATS',
      async () => {
        await nats.process.kill();
        await nats.process.start();
        await nats.ready();
      },
    ],
    [
      'Redis',
      async () => {
        await redis.process.kill();
        await redis.restart();
      },
    ],
    ['Redis, which loses everything', () => redis.restore(undefined)],
  ])(
    'heals after a crash of %s',
    async (_, crash) => {
      await churn(async () => {
        await sleep(300);
        await crash();
        await sleep(1_000);
      });
      await settled();
    },
    180_000,
  );

  test('sets aside what it cannot read, goes on, and shows it', async () => {
    const ports = { clock: systemClock, random, logger: silentLogger };
    const fleet = await openInfrastructure(
      {
        fleet: 'sluice',
        partitions,
        bus: { kind: 'nats', servers: [nats.url] },
        store: { kind: 'redis', urls: [redis.url] },
      },
      ports,
    );
    const payload = new TextEncoder().encode('{"version":"9.0"}');
    for (const topic of ['changes', 'mutations'] as const) {
      await fleet.bus.append(topic, 3, [{ key: 'c/shop/web', id: `garbage ${topic}`, headers: {}, payload }]);
    }
    flip();
    await settled();
    const waiting = performance.now() + 30_000;
    while ((await fleet.deadLetters.list()).length < 2 && performance.now() < waiting) await sleep(50);
    await fleet.close();
    const sluice = async (...args: string[]) =>
      (await promisify(execFile)(process.execPath, [main, ...args, ...where()])).stdout;
    const listed = await sluice('dead-letters', 'list');
    const names = [...listed.matchAll(/^((?:changes|mutations)\/3\/\d+) .*version 9\.0/gm)].map(
      ([, name = '']) => name,
    );
    expect(names.map((name) => name.split('/')[0]).sort(), listed).toEqual(['changes', 'mutations']);
    expect(await sluice('dead-letters', 'show', names[0] ?? '')).toContain('{"version":"9.0"}');
    await sluice('dead-letters', 'drop', ...names);
    expect(await sluice('dead-letters', 'list')).toBe('No dead letters.\n');
  }, 120_000);

  test('hands over and ends with status 0 when it is told to', async () => {
    const ended = await Promise.all(
      [...processes.values()].map(async (process) => {
        await process.stop();
        return process.ended;
      }),
    );
    expect(ended).toEqual(ended.map(() => 'exit status 0'));
  }, 60_000);
});
