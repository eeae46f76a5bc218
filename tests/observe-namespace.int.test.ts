import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ApiClient, namespaceObject, serviceObject } from '@sluice/conformance';
import { ConsoleClient } from '@sluice/console/client';
import {
  type ControlPlane,
  freePorts,
  kubectl,
  type ServerProcess,
  startControlPlane,
  startKubeControllerManager,
} from '@sluice/local';
import { until } from '@sluice/platform/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createNamespace, createPod, createService, setReady } from './harness/real-services.ts';

/** `sluice observe --namespace` with the permissions of observe-namespace.yaml in the namespace shop, and no others. */
const [program, manifests] = ['../bin/sluice', '../infra/kubernetes/observe-namespace.yaml'].map((path) =>
  join(import.meta.dirname, path),
) as [string, string];
const user = 'system:serviceaccount:shop:sluice-observer';
let root: string;
let kubeconfig: string;
let cluster: ControlPlane;
let controllers: ServerProcess;
let admin: ApiClient;
let url: string;
let observer: ChildProcess;
let output = '';

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'sluice-observe-namespace-'));
  const options = { name: 'prod', authorization: 'RBAC', grantSluice: false, audit: 'Metadata' } as const;
  cluster = await startControlPlane({ ...options, directory: join(root, 'prod') });
  controllers = await startKubeControllerManager(cluster, { serviceAccountCredentials: true });
  admin = await ApiClient.open(cluster.adminKubeconfig);
  await createNamespace(admin);
  await admin.create('namespaces', namespaceObject('pay'));
  await createService(admin, 'cart');
  const ports = [{ name: 'http', port: 80, targetPort: 8080 }];
  await admin.create('services', serviceObject({ namespace: 'pay', name: 'card', spec: { selector: {}, ports } }));
  await kubectl(cluster.adminKubeconfig, ['apply', '-f', manifests]);
  kubeconfig = await kubeconfigOfObserver();
  const [port = 0] = await freePorts(1);
  url = `http://127.0.0.1:${port}`;
  await startObserver('--namespace', 'shop');
});

afterAll(async () => {
  observer?.kill('SIGKILL');
  await controllers?.stop();
  await admin?.close();
  await cluster?.stop();
  rmSync(root, { recursive: true, force: true });
});

/** That of another user, with a token of the ServiceAccount. */
async function kubeconfigOfObserver(): Promise<string> {
  const token = await kubectl(cluster.adminKubeconfig, ['create', 'token', 'sluice-observer', '--namespace=shop']);
  const path = join(root, 'observer.kubeconfig');
  const config = JSON.parse(readFileSync(cluster.kubeconfigs['sluice-observer'], 'utf8'));
  config.users[0].user = { token: token.trim() };
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}

async function startObserver(...namespaces: readonly string[]): Promise<void> {
  output = '';
  const flags = ['--metrics-bind-address', new URL(url).host, '--recording-dir', join(root, 'recording')];
  observer = spawn(program, ['observe', '--kubeconfig', kubeconfig, ...namespaces, ...flags]);
  for (const stream of [observer.stdout, observer.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  await until('the observer records', async () => /recording cluster .*namespace=shop/.test(output));
}

const sluice = async (...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(program, [...args, '--console', url])).stdout;

/** What the observer requested so far. */
const requests = () =>
  readFileSync(cluster.auditLog ?? '', 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter((event) => event.user.username === user);

const recorded = async () => {
  const { items } = await new ConsoleClient({ url }).services({});
  return items.map(({ namespace, name }) => `${namespace}/${name}`);
};

test('a change in the namespace is recorded and explained, with the zone that the slices show', async () => {
  for (const number of [1, 2]) await createPod(admin, 'cart', number);
  await expect.poll(() => sluice('explain', 'shop/cart', '--pod', 'cart-1')).toContain('cart-1: ready');
  expect(await sluice('explain', 'shop/cart')).not.toContain('does not exist');
  await setReady(admin, 'cart', 1, false);
  await expect
    .poll(() => sluice('history', 'shop/cart'))
    .toMatch(
      /EndpointSlice cart-\w+ was modified by kube-controller-manager: ~ cart-1\s+because: Pod shop\/cart-1 became not ready/,
    );
  await expect.poll(() => sluice('verify', 'shop/cart')).toContain('slices: as they should be since ');
  await expect.poll(() => sluice('stuck', '--for', '0s')).toBe('Slices and Endpoints show every Pod as they should.\n');
  const [summary] = (await new ConsoleClient({ url }).services({ q: 'cart' })).items;
  if (summary === undefined) return expect.unreachable();
  const { pods } = await new ConsoleClient({ url }).service({ ...summary, service: summary.name });
  expect(pods.map(({ pod, verdict, zone }) => [pod, verdict, zone])).toEqual([
    ['cart-1', 'not ready', 'a'],
    ['cart-2', 'ready', 'a'],
  ]);
});

test('nothing of other namespaces is requested or recorded, and nothing is refused', async () => {
  expect(await recorded()).toEqual(['shop/cart']);
  const made = requests();
  expect(made.filter(({ responseStatus }) => responseStatus?.code === 403).map(({ requestURI }) => requestURI)).toEqual(
    [],
  );
  const targets = made.map(({ verb, requestURI }) => `${verb} ${requestURI.replace(/\?.*/, '')}`);
  const path = (resource: string) => `/api/v1/namespaces/shop/${resource}`;
  const slices = '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices';
  expect([...new Set(targets)].sort()).toEqual(
    [
      'get /version',
      ...['services', 'pods', 'endpoints'].flatMap((name) => [`list ${path(name)}`, `watch ${path(name)}`]),
      ...['list', 'watch'].map((verb) => `${verb} ${slices}`),
    ].sort(),
  );
});

test('after a restart the recording continues; a namespace that is forbidden is logged and delays no other', async () => {
  observer.kill('SIGTERM');
  await once(observer, 'close');
  await setReady(admin, 'cart', 2, false);
  await startObserver('-n', 'pay', '-n', 'shop');
  expect(output).toMatch(/cannot read namespace; retrying .*namespace=pay .*cannot list resource.*in the namespace/);
  await setReady(admin, 'cart', 1, true);
  await expect.poll(() => sluice('explain', 'shop/cart', '--pod', 'cart-1')).toContain('cart-1: ready');
  const history = await sluice('history', 'shop/cart');
  expect(history).toMatch(/because: Pod shop\/cart-1 became not ready/);
  expect(history).toContain('Nothing was recorded from ');
  expect(history).toContain('Pod cart-2 became not ready');
  expect(await recorded()).toEqual(['shop/cart']);
});

test('a namespace is recorded once it is allowed', async () => {
  const create = (...args: readonly string[]) =>
    kubectl(cluster.adminKubeconfig, ['create', ...args, '--namespace=pay']);
  const resources = 'services,pods,endpoints,endpointslices.discovery.k8s.io';
  await create('role', 'observer', '--verb=list,watch', `--resource=${resources}`);
  await create('rolebinding', 'observer', '--role=observer', '--serviceaccount=shop:sluice-observer');
  await expect.poll(() => output).toMatch(/recording cluster .*namespace=pay/);
  await expect.poll(async () => (await recorded()).toSorted()).toEqual(['pay/card', 'shop/cart']);
});
