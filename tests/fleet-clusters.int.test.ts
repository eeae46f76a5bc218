import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// biome-ignore lint/plugin: paces changes and faults
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { RoleProcess } from '@sluice/demo/distributed';
import { type RedisServer, type RunningServer, startNats, startRedis } from '@sluice/local';
import type { Role } from '@sluice/sluice';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { FleetCluster } from './harness/fleet-cluster.ts';

/**
 * A fleet of processes on NATS and Redis that serves three clusters with the same Services and Pods by name. To repeat a
 * run: `SEED=17 npx vitest run --project integration tests/fleet-clusters.int.test.ts`.
 */
const seed = Number(process.env.SEED ?? 1);
const main = fileURLToPath(new URL('../services/sluice/src/main.ts', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'sluice-fleet-clusters-'));
const kubeconfigs = join(directory, 'clusters');
mkdirSync(kubeconfigs);
const shape = { services: 12, pods: 4 };
const clusters = ['east', 'west', 'north'].map((name, i) => new FleetCluster(name, kubeconfigs, shape, seed * 100 + i));
const [east, west, north] = clusters as [FleetCluster, FleetCluster, FleetCluster];
const processes = new Map<string, RoleProcess>();
const log: string[] = [];
let bus: RunningServer;
let redis: RedisServer;
let where: readonly string[];

beforeAll(async () => {
  const nats = await startNats({ directory: join(directory, 'nats') });
  bus = nats;
  redis = await startRedis({ directory: join(directory, 'redis') });
  where = ['--bus', nats.url, '--store', redis.url, '--partitions', '8', '--fleet', 'clusters'];
  for (const cluster of clusters) await cluster.start();
  for (const role of ['watcher', 'reconciler', 'writer'] as const) for (const n of [1, 2]) start(role, n);
});

afterAll(async () => {
  for (const { child } of processes.values()) child.kill('SIGKILL');
  await Promise.all([...clusters, bus, redis].map((one) => one?.stop()));
  rmSync(directory, { recursive: true, force: true });
});

afterEach(() => {
  // A message of one cluster never causes a write in another.
  for (const { name, foreign } of clusters) expect(foreign, `${name}, seed ${seed}`).toEqual([]);
});

function start(role: Role, n: number): void {
  const name = `${role}-${n}`;
  const clusterFlags = role === 'reconciler' ? [] : ['--kubeconfig', kubeconfigs];
  const onLine = (from: string, line: string) => log.push(`${from}: ${line}`);
  processes.set(name, new RoleProcess(name, role, [...where, '--metrics-bind-address', '0', ...clusterFlags], onLine));
}

function processOf(name: string): RoleProcess {
  const found = processes.get(name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
}

async function converged(...expected: readonly FleetCluster[]): Promise<void> {
  const differences = () => expected.flatMap(({ name, world }) => world.incorrectServices().map((s) => `${name}/${s}`));
  await expect
    .poll(differences)
    .toEqual([])
    .catch((error) => {
      throw new Error(`seed ${seed}\n${log.slice(-40).join('\n')}`, { cause: error });
    });
}

/** Changes Pods of these clusters while `meanwhile` runs. */
async function churn(changing: readonly FleetCluster[], meanwhile: () => Promise<void>): Promise<void> {
  let over = false;
  const changes = (async () => {
    while (!over) {
      for (const { world } of changing) world.change();
      await sleep(20);
    }
  })();
  await meanwhile();
  over = true;
  await changes;
}

test('writes the slices and Endpoints of all clusters', async () => {
  // One of two processes may write everything while the other one is still starting.
  const connections = () => log.filter((line) => line.includes('serving cluster')).length;
  await expect.poll(connections).toBe(4 * clusters.length);
  await converged(...clusters);
});

const removals = () => log.filter((line) => line.includes('cluster removed')).length;

test('a removed cluster is left as it is, the others continue, and it converges when it returns', async () => {
  const before = removals();
  await churn(clusters, async () => {
    north.removeFromDirectory();
    // Each watcher and each writer is connected to it.
    await expect.poll(removals).toBe(before + 4);
  });
  // Requests that were sent before may still arrive.
  const newWrites = async () => {
    const { writes } = north;
    await churn(clusters, () => sleep(1_500));
    return north.writes - writes;
  };
  await expect.poll(newWrites).toBe(0);
  await converged(east, west);
  expect(north.world.incorrectServices()).not.toEqual([]);
  // Its Services are not parked, dead-lettered or pending anywhere.
  const sluice = async (...args: string[]) =>
    (await promisify(execFile)(process.execPath, [main, ...args, ...where])).stdout;
  expect(await sluice('parked', 'list')).toContain('No parked Services');
  expect(await sluice('dead-letters', 'list')).toBe('No dead letters.\n');

  north.addToDirectory();
  await churn(clusters, () => sleep(1_000));
  await converged(...clusters);
});

test('a cluster whose packets are lost delays no other, and converges by itself once they arrive again', async () => {
  west.swallow();
  await churn(clusters, () => sleep(2_000));
  await converged(east, north);
  expect(west.world.incorrectServices()).not.toEqual([]);
  // Also after a take-over, which makes the new owners connect to it.
  for (const name of ['watcher-1', 'writer-1']) {
    processOf(name).child.kill('SIGKILL');
    await processOf(name).exited;
  }
  await churn([east, north], () => sleep(2_000));
  await converged(east, north);
  for (const role of ['watcher', 'writer'] as const) start(role, 1);
  west.repair();
  await converged(...clusters);
});

test('a cluster that is removed and returns while all processes are down converges', async () => {
  for (const [, role] of processes) await role.stop();
  north.removeFromDirectory();
  for (const { world } of clusters) for (let n = 0; n < 20; n++) world.change();
  for (const role of ['watcher', 'reconciler', 'writer'] as const) for (const n of [1, 2]) start(role, n);
  await converged(east, west);
  north.addToDirectory();
  await converged(...clusters);
});

test('hands over and exits with status 0 on SIGTERM', async () => {
  const ended = await Promise.all(
    [...processes.values()].map(async (process) => {
      await process.stop();
      return process.exited;
    }),
  );
  expect(ended, log.slice(-20).join('\n')).toEqual(ended.map(() => 'exit status 0'));
});
