import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryBus } from '@sluice/bus';
import { ApiServerHttp, FakeApiServer, kubeconfigOf } from '@sluice/fake-apiserver';
import { resolve } from '@sluice/fleet/configuration/testing';
import { seededRandom, silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { MemoryClusterDirectory, MemoryDeadLetters, MemoryLeases, MemoryStore } from '@sluice/store';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type RunningRole, startRole } from './start-role.ts';

const clock = systemClock;
let directory: string;
let http: ApiServerHttp;
let kubeconfig: string;
const running: RunningRole[] = [];

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-standby-'));
  http = new ApiServerHttp({ server: new FakeApiServer({ clock, random: seededRandom(1) }), clock });
  kubeconfig = join(directory, 'kubeconfig');
  writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(await http.listen(), 'west')), { mode: 0o600 });
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((role) => role.stop(1_000)));
  await http.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Two processes of a role that share one partition. */
function startTwo(role: 'watcher' | 'writer') {
  const infrastructure = {
    ...{ bus: new MemoryBus({ partitions: 1 }), store: new MemoryStore(), leases: new MemoryLeases(clock) },
    ...{ deadLetters: new MemoryDeadLetters(), directory: new MemoryClusterDirectory() },
  };
  const flags = { '--kubeconfig': kubeconfig, '--cluster-name': 'west', '--metrics-bind-address': '127.0.0.1:0' };
  const { configuration } = resolve({ flags });
  const ports = { clock, random: seededRandom(2), logger: silentLogger };
  for (const member of ['one', 'two'])
    running.push(startRole({ role, member, infrastructure, configuration, environment: {}, ...ports }));
}

/** The phases of the cluster, as each process reports them. */
async function phases(): Promise<readonly string[]> {
  const texts = await Promise.all(running.map((role) => role.metrics?.text()));
  return texts
    .flatMap((text = '') => [...text.matchAll(/^sluice_cluster_phase\{cluster="west",phase="(\w+)"\} 1$/gm)])
    .map(([, phase = '']) => phase)
    .sort();
}

test.each(['watcher', 'writer'] as const)(
  'of two %ss one serves the cluster and the other stands by, until it takes over',
  async (role) => {
    startTwo(role);
    await expect.poll(phases).toEqual(['serving', 'standby']);
    const texts = await Promise.all(running.map((one) => one.metrics?.text()));
    const serving = texts.findIndex((text) => text?.includes('phase="serving"'));
    await running.splice(serving, 1)[0]?.stop(1_000);
    await expect.poll(phases).toEqual(['serving']);
  },
);
