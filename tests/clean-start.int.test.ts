import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RoleProcess } from '@sluice/demo/distributed';
import { ApiServerHttp, FakeApiServer, kubeconfigOf, populate } from '@sluice/fake-apiserver';
import { type Nats, type RedisServer, startNats, startRedis } from '@sluice/local';
import { systemClock } from '@sluice/process';
import { asRecord, seededRandom } from '@sluice/runtime';
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

test('a clean first start logs no warnings', async () => {
  // Leases outlast a stall of this machine, of which a warning would be right.
  const where = ['--bus', nats.url, '--store', redis.url, '--lease-ttl', '3s'];
  const backends = [...where, '--log-format', 'json', '--metrics-bind-address', '0'];
  for (const role of ['watcher', 'watcher', 'reconciler', 'reconciler', 'writer', 'writer'] as const) {
    const cluster = role === 'reconciler' ? [] : ['--kubeconfig', join(directory, 'kubeconfig.json')];
    const onLine = (_: string, line: string) => void lines.push(line);
    processes.push(new RoleProcess(`${role}-${processes.length}`, role, [...backends, ...cluster], onLine));
  }
  const deadline = performance.now() + 120_000;
  const started = () => lines.filter((line) => asRecord(JSON.parse(line)).msg === 'started').length;
  while (started() < processes.length || !isConverged()) {
    if (performance.now() > deadline) throw new Error(`not converged:\n${lines.slice(-30).join('\n')}`);
    await sleep(100);
  }
  // The shares of the roles move until they are even.
  await sleep(5_000);
  expect(slicesOf(server).actual).toHaveLength(services * podsPerService);
  expect(lines.filter((line) => levelOf(line) !== 'info')).toEqual([]);
});
