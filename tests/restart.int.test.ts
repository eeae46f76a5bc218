import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type OpenInfrastructure, openInfrastructure } from '@sluice/backends';
import type { Bus } from '@sluice/bus';
import { RoleProcess } from '@sluice/demo/distributed';
import { ApiServerHttp, FakeApiServer, kubeconfigOf, type Population, populate } from '@sluice/fake-apiserver';
import { type Nats, type RedisServer, startNats, startRedis } from '@sluice/local';
import { systemClock } from '@sluice/process';
import { seededRandom, silentLogger } from '@sluice/runtime';
import type { Role } from '@sluice/sluice';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { slicesOf } from './harness/expected-endpoints.ts';

/**
 * Restarting every watcher of a fleet on real NATS and Redis without any change sends no message and writes nothing.
 * Prints the counts.
 */
const [services, podsPerService, partitions] = [50, 4, 8];
const fleet = 'sluice';

let directory: string;
let redis: RedisServer;
let nats: Nats;
let server: FakeApiServer;
let http: ApiServerHttp;
let population: Population;
let infrastructure: OpenInfrastructure;
const processes = new Map<string, RoleProcess>();
const log: string[] = [];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-restart-'));
  redis = await startRedis({ directory: join(directory, 'redis') });
  nats = await startNats({ directory: join(directory, 'nats') });
  server = new FakeApiServer({ clock: systemClock, random: seededRandom(1) });
  population = populate(server, { services, podsPerService, now: systemClock.now() });
  http = new ApiServerHttp({ server, clock: systemClock });
  writeFileSync(join(directory, 'kubeconfig.json'), JSON.stringify(kubeconfigOf(await http.listen(), 'c')));
  infrastructure = await openInfrastructure(
    {
      fleet,
      partitions,
      bus: { kind: 'nats', servers: [nats.url] },
      store: { kind: 'redis', urls: [redis.url] },
    },
    { clock: systemClock, random: seededRandom(2), logger: silentLogger },
  );
  for (const role of ['watcher', 'watcher', 'reconciler', 'writer'] as const) start(role);
});

afterAll(async () => {
  for (const { child } of processes.values()) child.kill('SIGKILL');
  await infrastructure.close();
  await http.close();
  await nats.stop();
  await redis.stop();
  rmSync(directory, { recursive: true, force: true });
});

function start(role: Role): RoleProcess {
  const name = `${role}-${processes.size}`;
  const cluster = role === 'reconciler' ? [] : ['--kubeconfig', join(directory, 'kubeconfig.json')];
  const where = ['--bus', nats.url, '--store', redis.url, '--partitions', String(partitions)];
  const onLine = (from: string, line: string) => log.push(`${from}: ${line}`);
  const process = new RoleProcess(name, role, [...where, '--metrics-bind-address', '0', ...cluster], onLine);
  processes.set(name, process);
  return process;
}

const watchers = () => [...processes].filter(([name]) => name.startsWith('watcher'));

/** Stops all watchers, starts as many, and waits until one has synced its caches. */
async function restartWatchers(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  const former = watchers();
  for (const [name, process] of former) {
    process.child.kill(signal);
    processes.delete(name);
  }
  await Promise.all(former.map(([, process]) => process.exited));
  log.length = 0;
  for (const _ of former) start('watcher');
  await until('synced caches of a watcher', () => log.some((line) => line.includes('caches synced')));
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`timed out waiting for ${what}\n${log.slice(-30).join('\n')}`);
    await sleep(50);
  }
}

const isRight = () => {
  const { expected, actual } = slicesOf(server);
  return expected.join('\n') === actual.join('\n');
};

/** Number of messages sent on all topics so far. */
async function messages(bus: Bus): Promise<number> {
  const ends = (['changes', 'mutations', 'requests'] as const).flatMap((topic) =>
    Array.from({ length: topic === 'requests' ? 1 : partitions }, (_, partition) => bus.end(topic, partition)),
  );
  return (await Promise.all(ends)).reduce((sum, { offset }) => sum + offset, 0);
}

/** Waits until no message was sent for two seconds. */
async function quiet(): Promise<void> {
  let last = -1;
  let since = performance.now();
  await until('quiet', async () => {
    const now = await messages(infrastructure.bus);
    if (now !== last) [last, since] = [now, performance.now()];
    return performance.now() - since > 2_000;
  });
}

test.each(['SIGTERM', 'SIGKILL'] as const)(
  'restarting every watcher (%s) without a change: 0 messages, 0 writes; later changes are published',
  async (signal) => {
    await until('correct slices', isRight);
    await quiet();
    // A killed watcher must have stored its checkpoint before, which happens after ten quiet seconds.
    if (signal === 'SIGKILL') await sleep(13_000);
    const before = { messages: await messages(infrastructure.bus), version: Number(server.resourceVersion) };
    await restartWatchers(signal);
    await sleep(5_000);
    const sent = (await messages(infrastructure.bus)) - before.messages;
    const writes = Number(server.resourceVersion) - before.version;
    process.stdout.write(
      `restart of every watcher (${signal}), ${services} Services: ${sent} messages, ${writes} writes\n`,
    );
    expect({ sent, writes }, log.join('\n')).toEqual({ sent: 0, writes: 0 });
    server.put('pods', population.podObject(7, 1, signal === 'SIGKILL'));
    await until('the change to be written', isRight);
    expect(await messages(infrastructure.bus)).toBeGreaterThan(before.messages);
  },
);
