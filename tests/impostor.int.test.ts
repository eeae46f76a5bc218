import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { RoleProcess } from '@sluice/demo/distributed';
import { ApiServerHttp, FakeApiServer, kubeconfigOf } from '@sluice/fake-apiserver';
import { type Nats, type RedisServer, startNats, startRedis } from '@sluice/local';
import { seededRandom } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import type { Role } from '@sluice/sluice';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PodPopulation } from './harness/pod-population.ts';

/** An API server that claims the identity of another cluster of the fleet while that one is unreachable (ADR 0053). */
const identitySeed = 1;
const program = join(import.meta.dirname, '..', 'bin', 'sluice');

interface Cluster {
  readonly server: FakeApiServer;
  readonly population: PodPopulation;
  listen(port: number): Promise<{ readonly url: string; close(): Promise<void> }>;
}

/** All of them have the same identity. */
function newCluster(seed: number): Cluster {
  const server = new FakeApiServer({ clock: systemClock, random: seededRandom(identitySeed) });
  const population = new PodPopulation(server, { services: 3, pods: 4 }, seededRandom(seed), systemClock.now());
  return {
    ...{ server, population },
    async listen(port) {
      const http = new ApiServerHttp({ server, clock: systemClock });
      return { url: await http.listen(port), close: () => http.close() };
    },
  };
}

let directory: string;
let redis: RedisServer;
let nats: Nats;
const processes: RoleProcess[] = [];
const log: string[] = [];
const listening: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-impostor-'));
  redis = await startRedis({ directory: join(directory, 'redis') });
  nats = await startNats({ directory: join(directory, 'nats') });
});

afterAll(async () => {
  for (const { child } of processes) child.kill('SIGKILL');
  await Promise.all(processes.map(({ exited }) => exited));
  for (const one of listening) await one.close();
  await Promise.all([nats?.stop(), redis?.stop()]);
  rmSync(directory, { recursive: true, force: true });
});

async function listen(cluster: Cluster, port = 0) {
  const one = await cluster.listen(port);
  listening.push(one);
  return { ...one, port: Number(new URL(one.url).port) };
}

test('is neither watched nor written, and the cluster is served again once an operator has accepted it', async () => {
  const [west, impostor] = [newCluster(2), newCluster(3)];
  expect(impostor.server.identity).toBe(west.server.identity);
  const [reachable, reserved] = [await listen(west), await listen(impostor)];
  await reserved.close();
  for (const [name, { url }] of Object.entries({ west: reachable, east: reserved }))
    writeFileSync(join(directory, `${name}.json`), JSON.stringify(kubeconfigOf(url, name)));
  const configuration = join(directory, 'sluice.yaml');
  const clusters = ['west', 'east'].map((name) => ({ name, kubeconfig: `${name}.json` }));
  const bus = { servers: [nats.url] };
  const settings = { partitions: 2, bus, store: { url: [redis.url] }, clusters, metricsBindAddress: '0' };
  writeFileSync(configuration, JSON.stringify(settings));
  for (const role of ['watcher', 'reconciler', 'writer'] satisfies Role[])
    processes.push(new RoleProcess(role, role, ['--config', configuration], (_, line) => log.push(`${role}: ${line}`)));
  const correct = () => expect.poll(() => west.population.incorrectServices()).toEqual([]);
  await correct();

  await reachable.close();
  await listen(impostor, reserved.port);
  for (const role of ['watcher', 'writer'])
    await expect
      .poll(() => log.join('\n'))
      .toMatch(new RegExp(`${role}: .*cluster identity conflict; not serving cluster.*east`));
  for (let i = 0; i < 10; i++) west.population.change();
  const before = west.population.incorrectServices();
  expect(before).not.toEqual([]);
  await listen(west, reachable.port);
  await expect.poll(() => log.join('\n')).toMatch(/cluster identity conflict; .*west/);
  expect(impostor.server.list('endpointslices').items).toEqual([]);
  expect(impostor.server.list('endpoints').items).toEqual([]);

  await promisify(execFile)(program, ['clusters', 'accept', 'west', '--config', configuration]);
  await correct();
  expect(impostor.server.list('endpointslices').items).toEqual([]);
  expect(impostor.server.list('endpoints').items).toEqual([]);
});
