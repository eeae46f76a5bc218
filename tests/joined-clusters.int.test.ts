import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ApiClient } from '@sluice/conformance';
import { type ControlPlane, freePorts, startControlPlane } from '@sluice/local';
import { until } from '@sluice/platform/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createNamespace, createPod, createService, setReady } from './harness/real-services.ts';

/**
 * Five real API servers. Three serve Service cart: one loses its Nodes, one its API server, and one gets a wrong selector. All five
 * serve Service web: one API server freezes and returns, one is gone. The joined view alone says which.
 */
const program = join(import.meta.dirname, '../bin/sluice');
const names = ['east', 'north', 'west'];
const allNames = ['center', 'east', 'north', 'south', 'west'];
const pods = [0, 1];
const clusters = new Map<string, ControlPlane>();
const admins = new Map<string, ApiClient>();
let root: string;
let run: ChildProcess;
let url: string;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'sluice-joined-'));
  const kubeconfigs = join(root, 'kubeconfigs');
  mkdirSync(kubeconfigs);
  const start = async (name: string) => {
    const cluster = await startControlPlane({ name, authorization: 'AlwaysAllow', directory: join(root, name) });
    clusters.set(name, cluster);
    symlinkSync(cluster.adminKubeconfig, join(kubeconfigs, `${name}.yaml`));
    const admin = await ApiClient.open(cluster.adminKubeconfig);
    admins.set(name, admin);
    await createNamespace(admin);
    for (const service of names.includes(name) ? ['cart', 'web'] : ['web']) {
      await createService(admin, service);
      for (const pod of pods) await createPod(admin, service, pod);
    }
  };
  await Promise.all(allNames.map(start));
  const [port = 0] = await freePorts(1);
  url = `http://127.0.0.1:${port}`;
  const flags = ['--metrics-bind-address', `127.0.0.1:${port}`, '-o', 'none', '--log-level', 'warn'];
  run = spawn(program, ['run', '--kubeconfig', kubeconfigs, ...flags], { stdio: ['ignore', 'inherit', 'inherit'] });
  await until('all clusters serve cart', async () => (await explain().catch(() => '')).includes('6 of 6'));
  await until('all clusters serve web', async () => (await explainWeb()).includes('10 of 10'));
});

afterAll(async () => {
  run?.kill('SIGKILL');
  await clusters.get('north')?.processes.kubeApiserver.signal('SIGCONT');
  for (const admin of admins.values()) await admin.close();
  await Promise.all([...clusters.values()].map((cluster) => cluster.stop()));
  rmSync(root, { recursive: true, force: true });
});

const sluice = async (...args: readonly string[]) =>
  (await promisify(execFile)(program, [...args, '--console', url], { env: { ...process.env, COLUMNS: '200' } })).stdout;
/** With one space between columns. */
const read = async (...args: readonly string[]) => (await sluice(...args)).replaceAll(/ +/g, ' ');
const explain = () => read('explain', 'shop/cart', '--all-clusters');
const explainWeb = () => read('explain', 'shop/web', '--all-clusters');
const problems = () => read('services', '--all-clusters', '--problems');

function adminOf(name: string): ApiClient {
  const admin = admins.get(name);
  if (admin === undefined) throw new Error(`there is no cluster ${name}`);
  return admin;
}

/** Prints how long it takes until `read` matches. */
async function expectSoon(what: string, read: () => Promise<string>, pattern: RegExp): Promise<void> {
  const from = performance.now();
  await expect.poll(read).toMatch(pattern);
  // biome-ignore lint/plugin: printed, not compared
  console.log(`${what} after ${((performance.now() - from) / 1_000).toFixed(1)} s`);
}

test('says how all clusters serve a Service, and what the loss of one would mean', async () => {
  const text = await explain();
  expect(text).toMatch(/^Service shop\/cart in all clusters: 6 of 6 endpoints ready, in 3 of 3 clusters$/m);
  for (const name of names) {
    expect(text).toMatch(new RegExp(`^${name} 2 2 0 2 a 2/2 watched$`, 'm'));
    expect(text).toMatch(new RegExp(`^${name} 33 % 1.5× load on each other$`, 'm'));
  }
  expect(text).toMatch(/^MissingInCluster: does not exist in center and south$/m);
  const web = await explainWeb();
  expect(web).toMatch(/^Service shop\/web in all clusters: 10 of 10 endpoints ready, in 5 of 5 clusters$/m);
  for (const name of allNames) {
    expect(web).toMatch(new RegExp(`^${name} 2 2 0 2 a 2/2 watched$`, 'm'));
    expect(web).toMatch(new RegExp(`^${name} 20 % 1.3× load on each other$`, 'm'));
  }
  expect(await problems()).toBe('Nothing is wrong with any Service.\n');
});

test('a cluster loses its Nodes', async () => {
  // As the node lifecycle controller does.
  for (const service of ['cart', 'web']) {
    for (const pod of pods) await setReady(adminOf('west'), service, pod, false);
  }
  await expect.poll(explain).toMatch(/^NoReadyEndpointsInCluster: no ready endpoint in west$/m);
  expect(await explain()).toMatch(/^west 0 0 0 2 a 0\/2 watched$/m);
});

test('a cluster loses its API server', async () => {
  await clusters.get('north')?.processes.kubeApiserver.freeze();
  await expectSoon('a frozen API server is shown as lost', explain, /^north 2 2 0 2 a 2\/2 .+ old, counts$/m);
  const text = await explain();
  // Its last known state stays: it is not taken for a cluster without endpoints.
  expect(text).toMatch(/^NoReadyEndpointsInCluster: no ready endpoint in west$/m);
  expect(text).toMatch(/^LostClusterCounts: last known endpoints of north count; not answering$/m);
  expect(text).toMatch(/4 of 6 endpoints ready, in 2 of 3 clusters/);
  expect(await problems()).toMatch(/^north: not answering; known up to [0-9:.]+ \(.+ ago\)$/m);
  expect(await read('services', '--all-clusters', '--without', 'north')).toMatch(
    /^shop cart 2\/4 1\/3 ServedByOneCluster \+\d only east has ready endpoints \(2\)$/m,
  );
});

test('a cluster gets a wrong selector', async () => {
  const selector = { spec: { selector: { app: 'crat' } } };
  await adminOf('east').patch({ resource: 'services', namespace: 'shop', name: 'cart' }, selector);
  await expect.poll(explain).toMatch(/^ServedByOneCluster: only north has ready endpoints \(2\)$/m);
  const text = await explain();
  expect(text).toMatch(/^SpecDiffers: selector$/m);
  expect(text).toMatch(/^selector app=cart north, west$/m);
  expect(text).toMatch(/^ app=crat east$/m);
});

test('the history of all clusters names what happened, in order', async () => {
  const text = await read('history', 'shop/cart', '--all-clusters', '--since', '1h');
  const lines = text.split('\n');
  const first = (pattern: RegExp) => lines.findIndex((line) => pattern.test(line));
  const unready = first(/ west observed .*cart-\d became not ready/);
  const selector = first(/ east observed .*selector.*crat/);
  expect(unready).toBeGreaterThan(0);
  expect(selector).toBeGreaterThan(unready);
  expect(text).toMatch(/^north: not answering; known up to /m);
});

test('a cluster is lost while the API server of another one is frozen', async () => {
  await clusters.get('south')?.processes.kubeApiserver.kill();
  await expectSoon('a killed API server is shown as lost', explainWeb, /^south 2 2 0 2 a 2\/2 .+ old, counts$/m);
  // Others are as up to date as before.
  await setReady(adminOf('center'), 'web', 0, false);
  await expect.poll(explainWeb).toMatch(/^center 1 1 0 2 a 1\/2 watched$/m);
  const text = await explainWeb();
  expect(text).toMatch(/7 of 10 endpoints ready, in 4 of 5 clusters/);
  expect(text).toMatch(/^NoReadyEndpointsInCluster: no ready endpoint in west$/m);
  expect(text).toMatch(/^LostClusterCounts: last known endpoints of north and south count; not answering$/m);
  expect(text).toMatch(/^north 2 2 0 2 a 2\/2 .+ old, counts$/m);
  expect(text).toMatch(/^east 2 2 0 2 a 2\/2 watched$/m);
});

test('a cluster that answers again is right at once', async () => {
  await clusters.get('north')?.processes.kubeApiserver.signal('SIGCONT');
  await expectSoon('a returned API server is shown as watched', explain, /^north 2 2 0 2 a 2\/2 watched$/m);
  for (const service of ['cart', 'web']) await setReady(adminOf('north'), service, 0, false);
  await expect.poll(explain).toMatch(/^north 1 1 0 2 a 1\/2 watched$/m);
  await expect.poll(explainWeb).toMatch(/^north 1 1 0 2 a 1\/2 watched$/m);
  const text = await explainWeb();
  expect(text).toMatch(/6 of 10 endpoints ready, in 4 of 5 clusters/);
  expect(text).toMatch(/^LostClusterCounts: last known endpoints of south count; not answering$/m);
});

test('a cluster whose API server starts again is right at once', async () => {
  const south = clusters.get('south');
  await south?.processes.kubeApiserver.start();
  await south?.ready();
  for (const pod of pods) await setReady(adminOf('south'), 'web', pod, false);
  await expectSoon('a change after a start is shown', explainWeb, /^south 0 0 0 2 a 0\/2 watched$/m);
  expect(await explainWeb()).toMatch(/^NoReadyEndpointsInCluster: no ready endpoint in south and west$/m);
});
