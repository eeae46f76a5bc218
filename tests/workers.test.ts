import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryBus } from '@sluice/bus';
import { ApiServerHttp, FakeApiServer, kubeconfigOf, type Population, populate } from '@sluice/fake-apiserver';
import { resolve } from '@sluice/fleet/configuration/testing';
import { seededRandom, silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { type Role, type RunningRole, startRole } from '@sluice/sluice';
import { MemoryClusterDirectory, MemoryDeadLetters, MemoryLeases, MemoryStore } from '@sluice/store';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { endpointDifferences } from './harness/expected-endpoints.ts';

/** Workers, alone and beside single roles in one fleet, on shared bus, store and leases. */
const [services, podsPerService, partitions] = [12, 3, 8];
const clock = systemClock;

let directory: string;
let server: FakeApiServer;
let http: ApiServerHttp;
let population: Population;
let leases: MemoryLeases;
let start: (member: string, role: Role) => void;
const running = new Map<string, RunningRole>();

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-workers-'));
  server = new FakeApiServer({ clock, random: seededRandom(1) });
  population = populate(server, { services, podsPerService, now: clock.now() });
  http = new ApiServerHttp({ server, clock });
  const kubeconfig = join(directory, 'kubeconfig');
  writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(await http.listen(), 'west')), { mode: 0o600 });
  leases = new MemoryLeases(clock);
  const infrastructure = {
    ...{ bus: new MemoryBus({ partitions }), store: new MemoryStore(), leases },
    ...{ deadLetters: new MemoryDeadLetters(), directory: new MemoryClusterDirectory() },
  };
  const flags = { '--kubeconfig': kubeconfig, '--cluster-name': 'west', '--metrics-bind-address': '127.0.0.1:0' };
  const { configuration } = resolve({ flags });
  const ports = { clock, random: seededRandom(2), logger: silentLogger };
  start = (member, role) => {
    running.set(member, startRole({ role, member, infrastructure, configuration, environment: {}, ...ports }));
  };
});

afterEach(async () => {
  await Promise.all([...running.values()].map((role) => role.stop(1_000)));
  running.clear();
  await http.close();
  rmSync(directory, { recursive: true, force: true });
});

async function stop(member: string): Promise<void> {
  await running.get(member)?.stop(1_000);
  running.delete(member);
}

/** Makes every Pod of a Service ready, or not, and waits until slices and Endpoints show it. */
async function change(service: number, isReady: boolean): Promise<void> {
  for (let pod = 0; pod < podsPerService; pod++) server.put('pods', population.podObject(service, pod, isReady));
  await written();
}

async function written(): Promise<void> {
  await expect.poll(() => endpointDifferences(server)).toEqual([]);
}

/** Who holds leases of each group. */
async function holders() {
  const of = async (group: string) =>
    [...new Set((await leases.state(group)).leases.map(({ holder }) => holder))].sort();
  const watcher = await of('watcher');
  return { watcher, reconciler: await of('reconciler'), writer: await of('writer') };
}

const holdersAre = (expected: Awaited<ReturnType<typeof holders>>) => expect.poll(holders).toEqual(expected);

test('one worker does all the work of a fleet; a second one shares it and takes over', async () => {
  start('a', 'worker');
  await written();
  await holdersAre({ watcher: ['a'], reconciler: ['a'], writer: ['a'] });
  start('b', 'worker');
  await holdersAre({ watcher: ['a'], reconciler: ['a', 'b'], writer: ['a', 'b'] });
  await change(3, false);
  await stop('a');
  await holdersAre({ watcher: ['b'], reconciler: ['b'], writer: ['b'] });
  await change(3, true);
});

test('a fleet migrates from single roles to workers and back while it works', async () => {
  for (const role of ['watcher', 'reconciler', 'writer'] as const) start(role, role);
  await written();
  start('worker', 'worker');
  const both = (role: string) => [role, 'worker'].sort();
  await holdersAre({ watcher: ['watcher'], reconciler: both('reconciler'), writer: both('writer') });
  await change(1, false);
  for (const role of ['watcher', 'reconciler', 'writer']) await stop(role);
  await holdersAre({ watcher: ['worker'], reconciler: ['worker'], writer: ['worker'] });
  await change(1, true);
  for (const role of ['watcher', 'reconciler', 'writer'] as const) start(role, role);
  await holdersAre({ watcher: ['worker'], reconciler: both('reconciler'), writer: both('writer') });
  await stop('worker');
  await holdersAre({ watcher: ['watcher'], reconciler: ['reconciler'], writer: ['writer'] });
  await change(2, false);
});

test('a worker exposes the metrics of all its work, and is ready when all of it is', async () => {
  start('a', 'worker');
  await written();
  await holdersAre({ watcher: ['a'], reconciler: ['a'], writer: ['a'] });
  const text = (await running.get('a')?.metrics?.text()) ?? '';
  for (const role of ['reconciler', 'writer']) expect(text).toContain(`sluice_lease_held{role="${role}",scope="0"} 1`);
  expect(text).toContain('sluice_lease_held{role="watcher",scope="west"} 1');
  expect(text).toContain('sluice_cluster_phase{cluster="west",phase="serving"} 1');
  const checks = running.get('a')?.health.readyz() ?? [];
  const groups = ['reconciler', 'writer', 'watcher'].map((group) => `leases/${group}`);
  expect(checks.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['bus', 'store', 'clusters', 'cluster/west', 'caches/west', ...groups]),
  );
  await Promise.all(checks.map(({ run }) => run()));
});
