import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RoleProcess } from '@sluice/demo/distributed';
import { ApiServerHttp, FakeApiServer, kubeconfigOf, populate } from '@sluice/fake-apiserver';
import { type Nats, type RedisServer, startNats, startRedis } from '@sluice/local';
import { asRecord, seededRandom, silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { openRedis, type RedisPorts } from '@sluice/store/redis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { slicesOf } from './harness/expected-endpoints.ts';

/** The first start of a fleet on empty servers is routine, so no process logs a warning or an error. */
const [services, podsPerService] = [50, 4];

let directory: string;
let redis: RedisServer;
let nats: Nats;
let server: FakeApiServer;
let http: ApiServerHttp;
const processes: RoleProcess[] = [];
const lines: string[] = [];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-clean-start-'));
  redis = await startRedis({ directory: join(directory, 'redis') });
  nats = await startNats({ directory: join(directory, 'nats') });
  server = new FakeApiServer({ clock: systemClock, random: seededRandom(1) });
  populate(server, { services, podsPerService, now: systemClock.now() });
  http = new ApiServerHttp({ server, clock: systemClock });
  writeFileSync(join(directory, 'kubeconfig.json'), JSON.stringify(kubeconfigOf(await http.listen(), 'c')));
});

afterAll(async () => {
  for (const { child } of processes) child.kill('SIGKILL');
  await http.close();
  await nats.stop();
  await redis.stop();
  rmSync(directory, { recursive: true, force: true });
});

const isConverged = () => {
  const { expected, actual } = slicesOf(server);
  return expected.join('\n') === actual.join('\n');
};

const levelOf = (line: string): unknown => {
  try {
    return asRecord(JSON.parse(line)).level;
  } catch {
    return 'not JSON';
  }
};

/** How many of the 16 partitions each process of a role has. */
async function sharesOf({ leases }: RedisPorts, group: string): Promise<readonly number[]> {
  const holders = (await leases.state(group)).leases.map(({ holder }) => holder);
  return [...new Set(holders)].map((holder) => holders.filter((other) => other === holder).length);
}

test('a clean first start logs no warnings', async () => {
  // Leases outlast a stall of this machine, of which a warning would be right.
  const where = ['--bus', nats.url, '--store', redis.url, '--lease-ttl', '3s'];
  const backends = [...where, '--log-format', 'json', '--metrics-bind-address', '0'];
  for (const role of ['watcher', 'watcher', 'reconciler', 'reconciler', 'writer', 'writer'] as const) {
    const cluster = role === 'reconciler' ? [] : ['--kubeconfig', join(directory, 'kubeconfig.json')];
    const onLine = (_: string, line: string) => void lines.push(line);
    processes.push(new RoleProcess(`${role}-${processes.length}`, role, [...backends, ...cluster], onLine));
  }
  const started = () => lines.filter((line) => asRecord(JSON.parse(line)).msg === 'started').length;
  await expect.poll(started).toBe(processes.length);
  await expect.poll(isConverged).toBe(true);
  // The shares of the roles move until they are even.
  const redisPorts = await openRedis(
    { urls: [redis.url], fleet: 'sluice' },
    { clock: systemClock, logger: silentLogger },
  );
  await expect.poll(() => sharesOf(redisPorts, 'reconciler')).toEqual([8, 8]);
  await expect.poll(() => sharesOf(redisPorts, 'writer')).toEqual([8, 8]);
  redisPorts.close();
  expect(slicesOf(server).actual).toHaveLength(services * podsPerService);
  expect(lines.filter((line) => levelOf(line) !== 'info')).toEqual([]);
});
