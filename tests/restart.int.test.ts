import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StreamOffset, Topic } from '@sluice/bus';
import { RoleProcess } from '@sluice/demo/distributed';
import { ApiServerHttp, FakeApiServer, kubeconfigOf, type Population, populate } from '@sluice/fake-apiserver';
import { type OpenInfrastructure, openInfrastructure } from '@sluice/fleet/roles';
import { type Nats, type RedisServer, startNats, startRedis } from '@sluice/local';
import { seededRandom, silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { until } from '@sluice/platform/testing';
import type { Role } from '@sluice/sluice';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { slicesOf } from './harness/expected-endpoints.ts';

/**
 * Restarting every watcher of a fleet on real NATS and Redis without any change sends no message and writes nothing.
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
  await expect.poll(() => log.some((line) => line.includes('caches synced'))).toBe(true);
}

const isRight = () => {
  const { expected, actual } = slicesOf(server);
  return expected.join('\n') === actual.join('\n');
};

/** Where the log of each topic and partition ends. */
function ends(): Promise<readonly { topic: Topic; partition: number; end: StreamOffset }[]> {
  const logs = (['changes', 'mutations', 'requests'] as const).flatMap((topic) =>
    Array.from({ length: topic === 'requests' ? 1 : partitions }, (_, partition) => ({ topic, partition })),
  );
  return Promise.all(
    logs.map(async (log) => ({ ...log, end: await infrastructure.bus.end(log.topic, log.partition) })),
  );
}

/** Number of messages sent on all topics so far. */
const messages = async () => (await ends()).reduce((sum, { end }) => sum + end.offset, 0);

/** The keys of the messages behind these ends. */
async function keysSince(before: Awaited<ReturnType<typeof ends>>): Promise<ReadonlySet<string>> {
  const keys = new Set<string>();
  for (const [index, { topic, partition, end }] of (await ends()).entries()) {
    const start = before[index]?.end ?? end;
    const reader = infrastructure.bus.read(topic, partition, start);
    for (let { offset } = start; offset < end.offset; ) {
      for (const record of await reader.next(100)) {
        keys.add(record.key);
        offset = record.offset;
      }
    }
    reader.close();
  }
  return keys;
}

/** Whether the store has the digest of each Service, which a watcher removes before it publishes the Service. */
async function isCheckpointed(): Promise<boolean> {
  const digests = await infrastructure.store.find(`watcher/${server.identity}`, 'digest');
  return digests.length === services && digests.every(({ value }) => value !== '');
}

/** Waits until no message was sent for two seconds. */
async function quiet(): Promise<void> {
  let last = -1;
  let since = performance.now();
  await until('quiet', async () => {
    const now = await messages();
    if (now !== last) [last, since] = [now, performance.now()];
    // biome-ignore lint/plugin: a longer pause of the same silence is no failure
    return performance.now() - since > 2_000;
  });
}

test.each(['SIGTERM', 'SIGKILL'] as const)(
  'restarting every watcher (%s) without a change: no messages, no writes; later changes are published',
  async (signal) => {
    await expect.poll(isRight).toBe(true);
    await quiet();
    if (signal === 'SIGKILL') await expect.poll(isCheckpointed).toBe(true);
    const before = await ends();
    const { resourceVersion } = server;
    await restartWatchers(signal);
    // What the restart published would precede this change.
    const { namespace } = population.pod(7, 1);
    const service = population.services[7]?.name;
    server.put('pods', population.podObject(7, 1, signal === 'SIGKILL'));
    await expect.poll(isRight).toBe(true);
    expect([...(await keysSince(before))], log.join('\n')).toEqual([`${server.identity}/${namespace}/${service}`]);
    const written = (['endpoints', 'endpointslices'] as const)
      .flatMap((resource) => server.list(resource).items)
      .filter(({ metadata }) => Number(metadata.resourceVersion) > Number(resourceVersion))
      .map(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] ?? metadata.name);
    expect(new Set(written), log.join('\n')).toEqual(new Set([service]));
  },
);
