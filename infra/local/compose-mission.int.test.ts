import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureBinaries, ensureNatsServer, freePorts, type Jaeger, kubectl, startJaeger } from './src/index.ts';
import { readCompose } from './testing/compose-file.ts';
import { ComposeRun } from './testing/compose-run.ts';

/** Runs what `docker compose up` starts, without Docker, Prometheus and Grafana. */

const root = fileURLToPath(new URL('../../', import.meta.url));
const compose = readCompose(root);
const directory = mkdtempSync(join(tmpdir(), 'sluice-mission-'));
const certificates = join(directory, 'certificates');
const clusters = ['cluster-1', 'cluster-2', 'cluster-3'];
const containerPorts = [
  ...['etcd:2379', 'nats:4222', 'nats:8222', 'redis:6379', 'jaeger:4318', 'jaeger:16686'],
  ...['kube-apiserver-1:6443', 'kube-apiserver-2:6443', 'kube-apiserver-3:6443'],
  ...['console:10280', 'console:10270', 'worker:10270', 'worker-2:10270'],
];
const admin = join(certificates, 'host/admin.kubeconfig');
let jaeger: Jaeger;
let running: ComposeRun;
let consolePort = 0;
let lookedAt = '';

beforeAll(async () => {
  jaeger = await startJaeger({ directory: join(directory, 'jaeger') });
  const [peerPort = 0, ...free] = await freePorts(containerPorts.length + 1);
  const ports = new Map(containerPorts.map((address, index) => [address, free[index] ?? 0]));
  for (const [address, url] of [
    ['jaeger:4318', jaeger.otlpUrl],
    ['jaeger:16686', jaeger.queryUrl],
  ] as const) {
    ports.set(address, Number(new URL(url).port));
  }
  consolePort = ports.get('console:10280') ?? 0;
  const apiServers = ['kube-apiserver-1', 'kube-apiserver-2', 'kube-apiserver-3'];
  const hostPorts = apiServers.map((name) => String(ports.get(`${name}:6443`)));
  mkdirSync(certificates);
  const script = join(root, 'infra/images/make-certificates.sh');
  await promisify(execFile)('sh', [script, certificates, ...hostPorts]);
  const { etcd, kubeApiserver, kubectl } = await ensureBinaries();
  const peer = `http://127.0.0.1:${peerPort}`;
  const isEtcdHealthy = async () =>
    (await fetch(`http://127.0.0.1:${ports.get('etcd:2379')}/health`).catch(() => undefined))?.ok;
  running = new ComposeRun({
    ...{ compose, root, directory, certificates, ports },
    programs: {
      ...{ etcd, kubectl, 'kube-apiserver': kubeApiserver, 'nats-server': await ensureNatsServer() },
      node: process.execPath,
    },
    flags: {
      etcd: [
        `--listen-peer-urls=${peer}`,
        `--initial-advertise-peer-urls=${peer}`,
        `--initial-cluster=default=${peer}`,
      ],
      redis: ['--bind', '127.0.0.1'],
      ...Object.fromEntries(apiServers.map((name) => [name, ['--bind-address=127.0.0.1']])),
    },
    healthy: { etcd: async () => (await isEtcdHealthy()) === true },
  });
  await running.start('etcd');
  await Promise.all([...apiServers, 'nats', 'redis'].map((name) => running.start(name)));
  await running.complete('permissions');
  await running.start('worker');
  await Promise.all(['console', 'workload'].map((name) => running.start(name)));
  lookedAt = await running.complete('where-to-look');
});

afterAll(async () => {
  await running?.stop();
  await jaeger?.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Asks the console over TLS, with its token. */
function ask<T>(path: string): Promise<T> {
  const ca = readFileSync(join(certificates, 'ca.crt'));
  const authorization = `Bearer ${readFileSync(join(certificates, 'console/token'), 'utf8').trim()}`;
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: consolePort, path, ca, headers: { authorization } };
    const sent = request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => {
        if (response.statusCode === 200) resolve(JSON.parse(text) as T);
        else reject(new Error(`status ${response.statusCode}: ${text}`));
      });
    });
    sent.once('error', reject);
    sent.end();
  });
}

async function stateOf(cluster: string): Promise<string | undefined> {
  const overview = await ask<{ clusters: { name: string; state: string }[] }>('/api/v1/overview');
  return overview.clusters.find(({ name }) => name === cluster)?.state;
}

test('the last line says where to look', () => {
  const token = readFileSync(join(certificates, 'console/token'), 'utf8').trim();
  expect(lookedAt).toContain(`Look at https://127.0.0.1:${consolePort}/?token=${token}, traces at ${jaeger.queryUrl} `);
});

test('each cluster has Nodes, ready Pods and endpoints; one lacks Services of the others', async () => {
  const get = (cluster: string, ...args: string[]) =>
    kubectl(admin, ['--context', cluster, '--request-timeout=5s', 'get', ...args]).catch(() => '');
  for (const cluster of clusters) {
    await expect.poll(() => get(cluster, 'nodes')).toMatch(/ Ready /);
    const addresses = ['endpointslices', '-n', 'shop', '-l', 'kubernetes.io/service-name=frontend', '-o', 'wide'];
    await expect.poll(() => get(cluster, ...addresses)).toMatch(/ 10\.244\.\d+\.\d+/);
  }
  await expect.poll(() => get('cluster-1', 'services', '-n', 'platform', '-o', 'name')).toContain('service/search');
  expect(await get('cluster-2', 'services', '-n', 'platform', '-o', 'name')).not.toContain('service/search');
});

test('the trace of each change arrives', async () => {
  // A plan that the reconciler repeats, for example after a conflict, continues no Change.
  const changes = async () =>
    (await ask<{ items: Change[] }>('/api/v1/changes?limit=50')).items.filter(({ causes }) =>
      causes[0]?.startsWith('Pod '),
    );
  await expect.poll(async () => (await changes()).length).toBeGreaterThan(10);
  const found = await changes();
  expect(found.filter(({ traceparent = '' }) => !sampled.test(traceparent))).toEqual([]);
  for (const { traceparent = '' } of found) {
    const [, trace] = sampled.exec(traceparent) ?? [];
    const received = () => ask<{ traceId: string }>(`/api/v1/traces/${trace}`).catch(() => undefined);
    await expect.poll(received).toMatchObject({ traceId: trace });
  }
});

test('one cluster stops answering and returns; the others are served meanwhile', async () => {
  await expect.poll(() => stateOf('cluster-3')).toBe('not answering');
  expect(await stateOf('cluster-1')).toBe('watched');
  await expect.poll(() => stateOf('cluster-3')).toBe('watched');
});

interface Change {
  readonly causes: readonly string[];
  readonly traceparent?: string;
}

/** A trace context that says that the spans are recorded. */
const sampled = /^00-([0-9a-f]{32})-[0-9a-f]{16}-01$/;
