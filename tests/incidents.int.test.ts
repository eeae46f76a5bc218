import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ApiClient, namespaceObject, nodeObject, podObject, podStatus, serviceObject } from '@sluice/conformance';
import {
  type ControlPlane,
  freePorts,
  kubectl,
  type ServerProcess,
  startControlPlane,
  startKubeControllerManager,
} from '@sluice/local';
import { until } from '@sluice/platform/testing';
import type { JsonObject } from '@sluice/shadow';
import { afterAll, beforeAll, expect, test } from 'vitest';

/**
 * Incidents on a cluster with its own controllers: `sluice problems` names each, and one more command its cause. Each has a
 * Service of its own with two Pods.
 */
const program = join(import.meta.dirname, '../bin/sluice');
const namespace = 'shop';
let root: string;
let cluster: ControlPlane;
let controllers: ServerProcess;
let admin: ApiClient;
let observer: ChildProcess;
let url: string;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'sluice-incidents-'));
  cluster = await startControlPlane({ name: 'prod', directory: join(root, 'prod'), authorization: 'AlwaysAllow' });
  controllers = await startKubeControllerManager(cluster, {
    controllers: [
      ...['endpoints-controller', 'endpointslice-controller', 'endpointslice-mirroring-controller'],
      'namespace-controller',
    ],
  });
  admin = await ApiClient.open(cluster.adminKubeconfig);
  for (const name of [namespace, 'old']) await admin.create('namespaces', namespaceObject(name));
  for (const name of ['node-1', 'node-2']) await admin.create('nodes', nodeObject({ name, zone: 'a' }));
  const [port = 0] = await freePorts(1);
  url = `http://127.0.0.1:${port}`;
  const flags = ['--metrics-bind-address', `127.0.0.1:${port}`, '--recording-dir', join(root, 'recording')];
  observer = spawn(program, ['observe', '--kubeconfig', cluster.adminKubeconfig, ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [observer.stdout, observer.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  await until('the observer records', async () => output.includes('recording cluster'));
});

afterAll(async () => {
  observer?.kill('SIGKILL');
  await controllers?.stop();
  await admin?.close();
  await cluster?.stop();
  rmSync(root, { recursive: true, force: true });
});

const sluice = async (...args: readonly string[]) =>
  (await promisify(execFile)(program, [...args, '--console', url], { env: { ...process.env, COLUMNS: '200' } })).stdout;

/** Problems of a Service, also those that have just started, as REASON: MESSAGE. */
async function problems(service: string, of = namespace): Promise<readonly string[]> {
  const lines = (await sluice('problems', '--all', '-n', of, '-o', 'json')).split('\n').filter(Boolean);
  return lines
    .map((line): { readonly name: string; readonly reason: string; readonly message: string } => JSON.parse(line))
    .filter(({ name }) => name === service)
    .map(({ reason, message }) => `${reason}: ${message}`);
}

const history = async (service: string, of = namespace) =>
  (await sluice('history', `${of}/${service}`)).replaceAll(/\s+/g, ' ');

/** The slices may show that no Pod is ready before the last event of a Pod arrives. */
const withoutReady = expect.stringMatching(/^NoReadyEndpoints: 2 Pods: /);

interface Given {
  readonly in?: string;
  readonly node?: string;
  readonly port?: string;
  readonly finalizers?: readonly string[];
}

/** A Service with two ready Pods that its slices show. */
async function start(service: string, given: Given = {}): Promise<void> {
  const { in: of = namespace, node: nodeName = 'node-1', port, finalizers } = given;
  const ports = [{ name: 'http', port: 80, targetPort: port ?? 8080 }];
  await admin.create(
    'services',
    serviceObject({ namespace: of, name: service, spec: { selector: { app: service }, ports } }),
  );
  for (const name of podsOf(service)) {
    const more = { ...(port !== undefined && { ports: { [port]: 8080 } }), ...(finalizers && { finalizers }) };
    await admin.create('pods', podObject({ namespace: of, name, labels: { app: service }, nodeName, ...more }));
    await setReady(name, true, of);
  }
  await until(`the slices of ${service} show its Pods`, () => shows(service, 2));
}

const podsOf = (service: string) => [`${service}-1`, `${service}-2`];

/** An address for each Pod. */
const addresses = new Map<string, string>();

function setReady(name: string, ready: boolean, of = namespace): Promise<JsonObject> {
  const ip = addresses.get(name) ?? `10.0.1.${addresses.size + 1}`;
  addresses.set(name, ip);
  const status = podStatus({ phase: 'Running', ips: [ip], ready, since: new Date().toISOString() });
  return admin.patch({ resource: 'pods', namespace: of, name }, status, 'status');
}

async function shows(service: string, ready: number): Promise<boolean> {
  const text = await kubectl(cluster.adminKubeconfig, [
    ...['get', 'endpointslices', '-A', '-l', `kubernetes.io/service-name=${service}`, '-o'],
    'jsonpath={.items[*].endpoints[?(@.conditions.ready==true)].targetRef.name}',
  ]);
  return text.split(' ').filter(Boolean).length === ready;
}

test('a flapping probe', async () => {
  await start('flap');
  for (let i = 0; i < 6; i++) {
    await setReady('flap-1', i % 2 === 1);
    await until('the slice shows it', () => shows('flap', i % 2 === 1 ? 2 : 1));
  }
  await expect
    .poll(() => problems('flap'))
    .toEqual(['Flapping: Pod flap-1 became ready or not ready 6 times in 10 minutes']);
  expect(await sluice('flapping', '-n', namespace)).toMatch(/flap-1 +6 /);
});

test('a lost Node', async () => {
  await start('lost', { node: 'node-2' });
  // As the node lifecycle controller does.
  const unknown = { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' };
  await admin.patch({ resource: 'nodes', name: 'node-2' }, { status: { conditions: [unknown] } }, 'status');
  await expect.poll(() => history('lost')).toContain('is on Node node-2, which is not ready (NodeStatusUnknown)');
  for (const name of podsOf('lost')) await setReady(name, false);
  await expect.poll(() => problems('lost')).toEqual([withoutReady]);
  expect(await history('lost')).toContain('became not ready (Node node-2 is not ready (NodeStatusUnknown))');
  expect(await sluice('explain', 'shop/lost')).toContain('Node node-2 is not ready (NodeStatusUnknown)');
  const node = async (...args: readonly string[]) => (await sluice('node', ...args)).replaceAll(/ +/g, ' ');
  // Pods on the Node, those that left the slices and how long the slowest took, deleted and replaced Pods, and the outage.
  await expect.poll(() => node('node-2')).toMatch(/^shop lost 2 of 2 2 of 2 [0-9.]+ m?s 0 0 since [0-9:.]+$/m);
  const text = await node('node-2');
  expect(text).toMatch(/^Node node-2 in \S+, [0-9:.]+: no recovery recorded$/m);
  expect(text).toMatch(/^ [0-9:.]+ is not ready \(NodeStatusUnknown\)$/m);
  expect(await node()).toMatch(/ node-2 [0-9:.]+ no recovery recorded 1 1 is not ready/);
  expect(await node('node-2', '--until', '1h ago')).toBe('Node node-2 was not disrupted in this period.\n');
  await expect(sluice('node', 'node-22')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no Pod of a Service is or was on Node node-22\nKnown: node-2'),
  });
});

test('a typo in a selector', async () => {
  await start('cart');
  await admin.patch({ resource: 'services', namespace, name: 'cart' }, { spec: { selector: { app: 'crat' } } });
  await expect.poll(() => problems('cart')).toEqual(['NoMatchingPods: no Pod matches app=crat; 2 Pods have app=cart']);
  expect(await history('cart')).toContain('changed its selector: selector app=crat');
});

test('a deleted namespace', async () => {
  await start('web', { in: 'old' });
  await kubectl(cluster.adminKubeconfig, ['delete', 'namespace', 'old', '--wait=false']);
  await expect.poll(() => problems('web', 'old')).toEqual([withoutReady]);
  expect(await history('web', 'old')).toContain('Pod web-1 is being deleted');
  // As kubelets do. The namespace controller deletes Services after Pods.
  await kubectl(cluster.adminKubeconfig, ['delete', 'pods', '-n', 'old', '--all', '--force']);
  await expect.poll(() => history('web', 'old')).toContain('Service web was deleted');
  await expect.poll(() => problems('web', 'old')).toEqual([]);
});

test('a renamed port', async () => {
  await start('port', { port: 'web' });
  const ports = [{ name: 'http', port: 80, targetPort: 'http' }];
  await admin.patch({ resource: 'services', namespace, name: 'port' }, { spec: { ports } });
  await expect
    .poll(() => problems('port'))
    .toEqual(['UnresolvedPort: no Pod has the container port of port http (http)']);
  expect(await history('port')).toContain('changed its ports');
  expect(await sluice('explain', 'shop/port')).toContain('no container port is named "http"');
});

test('a finalizer that keeps Pods', async () => {
  await start('kept', { finalizers: ['example.com/kept'] });
  for (const name of podsOf('kept')) await admin.delete({ resource: 'pods', namespace, name });
  await expect.poll(() => problems('kept')).toEqual([withoutReady]);
  expect(await history('kept')).toContain('is being deleted');
});

test('a mass eviction', async () => {
  await start('evicted');
  for (const name of podsOf('evicted')) {
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`;
    await kubectl(cluster.adminKubeconfig, ['create', '--raw', path, '-f', '-'], JSON.stringify(eviction));
  }
  await expect.poll(() => problems('evicted')).toEqual([withoutReady]);
  expect(await history('evicted')).toContain('is being deleted (EvictionByEvictionAPI)');
});

test('a competing controller', async () => {
  await start('fought');
  const slice = await kubectl(cluster.adminKubeconfig, [
    ...['get', 'endpointslices', '-n', namespace, '-l', 'kubernetes.io/service-name=fought', '-o', 'name'],
  ]);
  const patch = JSON.stringify({ endpoints: [{ addresses: ['10.9.9.9'], conditions: { ready: true } }] });
  const fight = async () => {
    await kubectl(cluster.adminKubeconfig, [
      ...['patch', slice.trim(), '-n', namespace, '--type=merge', '-p', patch, '--field-manager=rogue'],
    ]);
    await until('kube-controller-manager repairs it', () => shows('fought', 2));
    return problems('fought');
  };
  // Of two writes within a second, the API server does not say which was the last.
  await expect
    .poll(fight)
    .toContainEqual(expect.stringMatching(/^CompetingManagers: \S+ and \S+ overwrote each other \d+ times/));
  expect(await problems('fought')).toContainEqual(expect.stringContaining('rogue'));
  expect(await history('fought')).toContain('was modified by rogue');
});

test('a stopped controller', async () => {
  await start('stopped');
  await controllers.stop();
  await setReady('stopped-1', false);
  await expect
    .poll(() => problems('stopped'))
    .toEqual(
      expect.arrayContaining([
        'LateChange: slices show Pod stopped-1 as ready instead of not ready',
        'LateChange: Endpoints show Pod stopped-1 as ready instead of not ready',
      ]),
    );
  const verified = promisify(execFile)(program, ['verify', 'shop/stopped', '--console', url]);
  await expect(verified).rejects.toMatchObject({ code: 1, stdout: expect.stringContaining('slices: wrong since ') });
  await controllers.start();
  await expect.poll(() => problems('stopped')).toEqual([]);
});

test('an API server that is down', async () => {
  await start('down');
  const { kubeApiserver } = cluster.processes;
  await kubeApiserver.stop();
  await expect.poll(() => sluice('explain', 'shop/down')).toMatch(/admin@prod has not answered since/);
  // At once only with --all, because most outages of an API server are short.
  await expect.poll(() => sluice('problems', '--all')).toMatch(/LostCluster .*not answering \(connection refused\)/);
  await kubeApiserver.start();
  await cluster.ready();
  await expect.poll(() => sluice('explain', 'shop/down')).not.toMatch(/has not answered/);
});
