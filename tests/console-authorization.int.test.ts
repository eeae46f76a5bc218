import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ApiClient, namespaceObject, serviceObject } from '@sluice/conformance';
import { ConsoleClient } from '@sluice/console/client';
import { type ControlPlane, freePorts, kubectl, startControlPlane } from '@sluice/local';
import { until } from '@sluice/platform/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createNamespace, createService } from './harness/real-services.ts';

/**
 * `sluice observe --console-authorization-mode cluster` on a real API server with RBAC: what its readers see is what they may
 * list with kubectl. The observer has the permissions of observe.yaml and no others.
 */
const [program, manifests] = ['../bin/sluice', '../infra/kubernetes/observe.yaml'].map((path) =>
  join(import.meta.dirname, path),
) as [string, string];
let root: string;
let cluster: ControlPlane;
let admin: ApiClient;
let url: string;
let observer: ChildProcess;
let output = '';
/** Files with the tokens of ServiceAccounts. `unused`: another one of `developer`. */
const tokenFiles = new Map<string, string>();

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'sluice-console-authorization-'));
  const options = { name: 'prod', authorization: 'RBAC', grantSluice: false, audit: 'Metadata' } as const;
  cluster = await startControlPlane({ ...options, directory: join(root, 'prod') });
  await kubectl(cluster.adminKubeconfig, ['apply', '-f', manifests]);
  admin = await ApiClient.open(cluster.adminKubeconfig);
  await createNamespace(admin);
  await admin.create('namespaces', namespaceObject('pay'));
  await createService(admin, 'cart');
  const ports = [{ name: 'http', port: 80, targetPort: 8080 }];
  await admin.create('services', serviceObject({ namespace: 'pay', name: 'card', spec: { selector: {}, ports } }));
  await createReaders();
  const [port = 0] = await freePorts(1);
  url = `http://127.0.0.1:${port}`;
  const flags = ['--metrics-bind-address', new URL(url).host, '--recording-dir', join(root, 'recording')];
  const mode = ['--console-authorization-mode', 'cluster', '--log-level', 'debug'];
  observer = spawn(program, ['observe', '--kubeconfig', cluster.kubeconfigs['sluice-observer'], ...flags, ...mode]);
  for (const stream of [observer.stdout, observer.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  await until('the observer records', async () => output.includes('recording cluster'));
});

afterAll(async () => {
  observer?.kill('SIGKILL');
  await admin?.close();
  await cluster?.stop();
  rmSync(root, { recursive: true, force: true });
});

/** `developer` may list the slices of one namespace, `operator` those of all, and `stranger` none. */
async function createReaders(): Promise<void> {
  const as = (...args: readonly string[]) => kubectl(cluster.adminKubeconfig, [...args, '--namespace=shop']);
  const slices = ['--verb=list', '--resource=endpointslices.discovery.k8s.io'];
  for (const name of ['developer', 'operator', 'stranger']) await as('create', 'serviceaccount', name);
  await as('create', 'role', 'slices', ...slices);
  await as('create', 'rolebinding', 'slices', '--role=slices', '--serviceaccount=shop:developer');
  await as('create', 'clusterrole', 'slices', ...slices);
  await as('create', 'clusterrolebinding', 'slices', '--clusterrole=slices', '--serviceaccount=shop:operator');
  for (const [file, name] of Object.entries({
    ...{ developer: 'developer', unused: 'developer', operator: 'operator', stranger: 'stranger' },
  })) {
    const path = join(root, `${file}.token`);
    writeFileSync(path, (await as('create', 'token', name)).trim(), { mode: 0o600 });
    tokenFiles.set(file, path);
  }
}

const tokenFileOf = (reader: string) => tokenFiles.get(reader) ?? '';
const tokenOf = (reader: string) => readFileSync(tokenFileOf(reader), 'utf8');

/** Output of a command for a reader, and its errors. */
async function sluice(reader: string, ...args: readonly string[]): Promise<string> {
  const all = [...args, '--console', url, '--console-token-file', tokenFileOf(reader)];
  return promisify(execFile)(program, all).then(
    ({ stdout }) => stdout,
    (error: { stderr: string }) => error.stderr,
  );
}

const recorded = async (reader: string) => {
  const { items } = await new ConsoleClient({ url, token: tokenOf(reader) }).services({});
  return items.map(({ namespace, name }) => `${namespace}/${name}`).sort();
};

test('without a token that the cluster accepts, nothing is served', async () => {
  for (const headers of [{}, { authorization: 'Bearer nonsense' }, { authorization: 'Bearer ' }]) {
    for (const path of ['/', '/api/v1/overview', '/api/v1/stream', '/api/v1/openapi.json'])
      expect((await fetch(url + path, { headers })).status).toBe(401);
  }
  expect((await fetch(`${url}/?token=nonsense`, { redirect: 'manual' })).headers.get('set-cookie')).toBeNull();
  const { stderr } = await promisify(execFile)(program, ['explain', 'shop/cart', '--console', url]).catch(
    (error) => error,
  );
  expect(stderr).toContain('--console-token-file');
});

test('readers see the namespaces whose slices they may list', async () => {
  await expect.poll(() => recorded('operator')).toEqual(expect.arrayContaining(['pay/card', 'shop/cart']));
  expect(await recorded('developer')).toEqual(['shop/cart']);
  expect(await recorded('stranger')).toEqual([]);
  expect(await sluice('developer', 'explain', 'shop/cart')).toContain('shop/cart');
  for (const [reader, name] of [
    ['developer', 'pay/card'],
    ['developer', 'pay/nothing'],
    ['stranger', 'shop/cart'],
  ] as const)
    expect(await sluice(reader, 'history', name)).toMatch(
      new RegExp(
        `your token does not allow to list endpointslices.discovery.k8s.io in namespace ${name.split('/')[0]} of`,
      ),
    );
  expect(await sluice('operator', 'history', 'pay/card')).toContain('Service card exists');
});

test('Nodes are for readers of all namespaces', async () => {
  expect(await sluice('operator', 'node', 'node-1')).not.toContain('does not allow');
  expect(await sluice('developer', 'node', 'node-1')).toContain('does not allow to list');
});

test('a browser gets a session with the token of a reader', async () => {
  const login = await fetch(`${url}/?token=${tokenOf('developer')}`, { redirect: 'manual' });
  const [cookie = ''] = (login.headers.get('set-cookie') ?? '').split(';');
  expect([login.status, login.headers.get('location')]).toEqual([302, '/']);
  expect(cookie).not.toContain(tokenOf('developer'));
  const page = await fetch(url, { headers: { cookie } });
  expect(page.headers.get('content-type')).toContain('text/html');
  const body = await (await fetch(`${url}/api/v1/services`, { headers: { cookie } })).text();
  expect(body).toContain('"cart"');
  expect(body).not.toContain('card');
});

test('each reader is reviewed as themselves, and no token is logged', async () => {
  const events = readFileSync(cluster.auditLog ?? '', 'utf8')
    .trimEnd()
    .split('\n');
  const reviews = events
    .map((line) => JSON.parse(line))
    .filter(({ requestURI, userAgent }) => /selfsubjectaccessreviews/.test(requestURI) && /^sluice/.test(userAgent));
  const users = new Set(reviews.map(({ user }) => user.username));
  for (const name of ['developer', 'operator', 'stranger'])
    expect(users).toContain(`system:serviceaccount:shop:${name}`);
  expect(users).not.toContain('system:serviceaccount:sluice:sluice-observer');
  expect(users).not.toContain('system:anonymous');
  for (const reader of tokenFiles.keys()) expect(output).not.toContain(tokenOf(reader));
});

test('an API server that does not answer opens nothing', async () => {
  await cluster.processes.kubeApiserver.stop(2_000);
  const { status, headers } = await fetch(`${url}/api/v1/services`, {
    headers: { authorization: `Bearer ${tokenOf('unused')}` },
  });
  expect([status, headers.get('retry-after')]).toEqual([503, '5']);
  expect(await sluice('unused', 'history', 'shop/cart')).toContain('an API server does not answer');
  await cluster.processes.kubeApiserver.start();
  await cluster.ready();
  await expect.poll(() => sluice('unused', 'history', 'shop/cart')).toContain('Service cart exists');
});
