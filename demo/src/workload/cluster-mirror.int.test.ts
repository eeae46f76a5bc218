import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ControlPlane, kubectl, startControlPlane } from '@sluice/local';
import { afterAll, beforeAll, expect, test } from 'vitest';

const main = fileURLToPath(new URL('./main.ts', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'sluice-workload-'));
let cluster: ControlPlane;

beforeAll(async () => {
  cluster = await startControlPlane({ directory, name: 'c', authorization: 'AlwaysAllow' });
});

afterAll(async () => {
  await cluster?.stop();
  rmSync(directory, { recursive: true, force: true });
});

const get = (...args: string[]) => kubectl(cluster.adminKubeconfig, ['get', ...args]);
/** Names of the Pods of an app that are ready and run. */
async function readyPods(app: string): Promise<readonly string[]> {
  const { items } = JSON.parse(await get('pods', '-A', '-l', `app=${app}`, '-o', 'json')) as {
    items: { metadata: { name: string; deletionTimestamp?: string }; status: { conditions?: object[] } }[];
  };
  const isReady = { type: 'Ready', status: 'True' };
  return items
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .filter(({ status }) => status.conditions?.some((one) => Object.entries(isReady).every((e) => has(one, e))))
    .map(({ metadata }) => metadata.name);
}
const has = (object: object, [key, value]: [string, string]) => (object as Record<string, unknown>)[key] === value;

/** Runs the workload with these flags while `use` runs. */
async function withWorkload(flags: readonly string[], use: () => Promise<void>): Promise<void> {
  const run = spawn(process.execPath, [main, '--kubeconfig', cluster.adminKubeconfig, ...flags], { stdio: 'ignore' });
  const ended = once(run, 'exit');
  try {
    await use();
  } finally {
    run.kill();
    expect(await ended).toEqual([0, null]);
  }
}

test('a simulated cluster runs on a real API server; users may delete Pods, and the next run starts over', async () => {
  let first: readonly string[] = [];
  await withWorkload(['--rate', '0', '--seed', '1'], async () => {
    await expect.poll(() => readyPods('cart')).toHaveLength(4);
    first = await readyPods('cart');
    const services = (await get('services', '-A', '-o', 'name')).split('\n');
    expect(services).toEqual(expect.arrayContaining(['service/frontend', 'service/ledger-db', 'service/kube-dns']));
    expect((await get('nodes')).match(/ Ready /g)).toHaveLength(7);
    const [deleted = ''] = first;
    await kubectl(cluster.adminKubeconfig, ['delete', 'pod', '-n', 'shop', deleted, '--wait=false']);
    await expect.poll(() => readyPods('cart')).not.toContain(deleted);
    await expect.poll(() => readyPods('cart')).toHaveLength(4);
  });
  await withWorkload(['--rate', '0', '--seed', '2'], async () => {
    await expect.poll(async () => (await readyPods('cart')).filter((name) => first.includes(name))).toEqual([]);
    await expect.poll(() => readyPods('cart')).toHaveLength(4);
    await expect.poll(async () => (await get('nodes')).match(/ Ready /g)).toHaveLength(7);
  });
});

test('changes reach the API server', async () => {
  await withWorkload(['--rate', '20'], async () => {
    await expect.poll(() => readyPods('cart')).toHaveLength(4);
    const before = (await get('pods', '-A', '-o', 'name')).split('\n');
    await expect.poll(async () => (await get('pods', '-A', '-o', 'name')).split('\n')).not.toEqual(before);
  });
});

test.each([
  [[], 'usage: node demo/src/workload/main.ts --kubeconfig FILE'],
  [['--kubeconfig', '/nowhere', '--rate', 'fast'], 'usage: node demo/src/workload/main.ts --kubeconfig FILE'],
  [['--kubeconfig', '/nowhere'], 'kubeconfig "/nowhere" does not exist'],
  [['--speed', '2'], "Unknown option '--speed'"],
])('%j is refused', (args, message) => {
  const { status, stderr } = spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' });
  expect(stderr).toContain(`error: ${message}`);
  expect(status).toBe(2);
});
