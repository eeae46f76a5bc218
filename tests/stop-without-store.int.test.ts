import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RoleProcess } from '@sluice/demo/distributed';
import { ApiServerHttp, FakeApiServer, kubeconfigOf, populate } from '@sluice/fake-apiserver';
import { type Nats, type RedisServer, startNats, startRedis } from '@sluice/local';
import { asRecord, seededRandom, silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { openRedis } from '@sluice/store/redis';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

let directory: string;
let redis: RedisServer;
let nats: Nats;
let http: ApiServerHttp;
const processes: RoleProcess[] = [];
const lines: Record<string, unknown>[] = [];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-stop-'));
  redis = await startRedis({ directory: join(directory, 'redis') });
  nats = await startNats({ directory: join(directory, 'nats') });
  const server = new FakeApiServer({ clock: systemClock, random: seededRandom(1) });
  populate(server, { services: 5, podsPerService: 2, now: systemClock.now() });
  http = new ApiServerHttp({ server, clock: systemClock });
  writeFileSync(join(directory, 'kubeconfig.json'), JSON.stringify(kubeconfigOf(await http.listen(), 'c')));
});

afterEach(() => {
  for (const { child } of processes.splice(0)) child.kill('SIGKILL');
  lines.length = 0;
  redis.process.signal('SIGCONT');
});

afterAll(async () => {
  await http.close();
  await nats.stop();
  await redis.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Whether work on all partitions and the cluster has started: until then it fails with the store, which is an error. */
async function hasStarted(): Promise<boolean> {
  const store = await openRedis({ urls: [redis.url], fleet: 'sluice' }, { clock: systemClock, logger: silentLogger });
  const groups = await Promise.all(['watcher', 'reconciler', 'writer'].map((group) => store.leases.state(group)));
  store.close();
  return groups.every(({ leases }) => leases.length > 0 && leases.every(({ started }) => started));
}

test.each([
  ['its heartbeats fail', 'cannot renew leases; continuing until they expire'],
  ['its connections are lost', 'Redis unavailable; retrying'],
])('a role whose store does not answer stops with status 0 and without an error once %s', async (_, message) => {
  const backends = ['--bus', nats.url, '--store', redis.url, '--log-format', 'json', '--metrics-bind-address', '0'];
  for (const role of ['watcher', 'reconciler', 'writer'] as const) {
    const cluster = role === 'reconciler' ? [] : ['--kubeconfig', join(directory, 'kubeconfig.json')];
    const onLine = (_: string, line: string) => void lines.push(asRecord(JSON.parse(line)));
    processes.push(new RoleProcess(role, role, [...backends, ...cluster], onLine));
  }
  const logged = (message: string) => lines.filter(({ msg }) => msg === message).map(({ role }) => role);
  await expect.poll(() => new Set(logged('leases acquired')).size).toBe(3);
  await expect.poll(hasStarted).toBe(true);
  await redis.process.freeze();
  await expect.poll(() => new Set(logged(message)).size).toBe(3);
  const exits = processes.map(({ child }) => once(child, 'exit'));
  for (const { child } of processes) child.kill('SIGTERM');
  const statuses = (await Promise.all(exits)).map(([status]: unknown[]) => status);
  // Together, so that a failure shows why a process exited with another status.
  const errors = lines.filter(({ level }) => level === 'error');
  expect({ statuses, errors }).toEqual({ statuses: [0, 0, 0], errors: [] });
});
