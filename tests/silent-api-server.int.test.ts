import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiClient } from '@sluice/conformance';
import { FaultyNetwork } from '@sluice/fake-apiserver';
import { type ControlPlane, freePorts, startControlPlane } from '@sluice/local';
import { until } from '@sluice/platform/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createNamespace, createService } from './harness/real-services.ts';

/** API servers whose connections stay open and carry nothing: a frozen one, and one behind a dead link. */
const program = join(import.meta.dirname, '../bin/sluice');
/** Without probes, a silent watch is given up after 150 s. On a busy machine, everything takes longer. */
const soonMs = 60_000;
let root: string;
let cluster: ControlPlane;
let network: FaultyNetwork;
let admin: ApiClient;
let observer: ChildProcess;
let url: string;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'sluice-silent-'));
  cluster = await startControlPlane({ name: 'prod', authorization: 'AlwaysAllow', directory: join(root, 'prod') });
  admin = await ApiClient.open(cluster.adminKubeconfig);
  await createNamespace(admin);
  network = new FaultyNetwork(cluster.url);
  const kubeconfig = join(root, 'kubeconfig');
  const direct = readFileSync(cluster.adminKubeconfig, 'utf8');
  writeFileSync(kubeconfig, direct.replaceAll(cluster.url, `https://${await network.listen()}`), { mode: 0o600 });
  const [port = 0] = await freePorts(1);
  url = `http://127.0.0.1:${port}`;
  const flags = ['--recording-dir', 'none', '--metrics-bind-address', `127.0.0.1:${port}`];
  observer = spawn(program, ['observe', '--kubeconfig', kubeconfig, ...flags], { stdio: 'ignore' });
  await until('the cluster is watched', async () => (await shown())?.state === 'watched');
});

afterAll(async () => {
  observer?.kill('SIGKILL');
  await admin?.close();
  await network?.refuse();
  await cluster?.stop();
  rmSync(root, { recursive: true, force: true });
});

interface Cluster {
  readonly identity: string;
  readonly state: string;
  readonly outage?: { readonly since: number; readonly reason: string };
}

async function shown(): Promise<Cluster | undefined> {
  const answer = await fetch(`${url}/api/v1/overview`).catch(() => undefined);
  const { clusters } = ((await answer?.json()) ?? { clusters: [] }) as { readonly clusters: readonly Cluster[] };
  return clusters[0];
}

/** When the observer noticed the Service. */
async function seen(service: string): Promise<number | undefined> {
  const { identity } = (await shown()) ?? {};
  const answer = await fetch(`${url}/api/v1/services/${identity}/shop/${service}/history`).catch(() => undefined);
  if (!answer?.ok) return undefined;
  const { entries } = (await answer.json()) as { readonly entries: readonly { readonly at: number }[] };
  return entries[0]?.at;
}

test.each([
  [
    'a frozen API server',
    () => cluster.processes.kubeApiserver.freeze(),
    () => cluster.processes.kubeApiserver.signal('SIGCONT'),
  ],
  ['a dead link', async () => network.swallow(), () => network.heal()],
])('%s is shown as not answering, and followed again once it answers', async (name, silence, restore) => {
  await silence();
  const silentAt = Date.now();
  await expect.poll(shown).toMatchObject({ state: 'not answering', outage: { reason: 'no answer in time' } });
  const { outage } = (await shown()) ?? {};
  expect((outage?.since ?? 0) - silentAt).toBeLessThan(soonMs);

  restore();
  await expect.poll(shown).toMatchObject({ state: 'watched' });
  const service = name.replaceAll(' ', '-').toLowerCase();
  const createdAt = Date.now();
  await createService(admin, service);
  await expect.poll(() => seen(service)).toBeDefined();
  expect(((await seen(service)) ?? 0) - createdAt).toBeLessThan(soonMs);
});
