import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection, loadKubeconfig } from '@sluice/kubernetes';
import { type ControlPlane, kubectl, makeServingCertificate, startControlPlane } from '@sluice/local';
import { silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

/** Credentials of a cluster are rotated under a running process, on a real kube-apiserver. */
const root = mkdtempSync(join(tmpdir(), 'sluice-cluster-rotation-'));
const directory = join(root, 'control-plane');
const inDirectory = (name: string) => join(directory, name);
const kubeconfig = join(root, 'kubeconfig.json');
const cleanups: (() => Promise<unknown>)[] = [];
let controlPlane: ControlPlane;

beforeAll(async () => {
  const apiServerArgs = [`--client-ca-file=${inDirectory('ca.crt')}`];
  controlPlane = await startControlPlane({ directory, name: 'local', authorization: 'AlwaysAllow', apiServerArgs });
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

afterAll(async () => {
  await controlPlane?.stop();
  rmSync(root, { recursive: true, force: true });
});

function writeKubeconfig(cluster: object, user: object): void {
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
    clusters: [{ name: 'c', cluster: { server: controlPlane.url, ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
}

/** Returns how a request ends: its status, or why there is none. */
async function connect(): Promise<() => Promise<string>> {
  const access = await loadKubeconfig({ paths: [kubeconfig] });
  const connection = new Connection({ access, userAgent: 'rotation', clock: systemClock, logger: silentLogger });
  cleanups.push(() => connection.destroy());
  return () =>
    connection
      .request({ method: 'GET', path: '/api/v1/namespaces', signal: AbortSignal.timeout(10_000) })
      .then(({ status }) => String(status), String);
}

/** Gives the API server a new authority, serving certificate and authority of its clients. */
async function rotateCertificates(): Promise<void> {
  const folder = join(root, 'rotated');
  mkdirSync(folder, { recursive: true });
  const { ca, certificate, key } = await makeServingCertificate(folder, 'rotated');
  await controlPlane.processes.kubeApiserver.kill();
  copyFileSync(ca, inDirectory('ca.crt'));
  copyFileSync(certificate, inDirectory('apiserver.crt'));
  copyFileSync(key, inDirectory('apiserver.key'));
  await controlPlane.processes.kubeApiserver.start();
  await controlPlane.ready();
}

const data = (name: string) => readFileSync(inDirectory(name)).toString('base64');

test.each([
  [
    'embedded in the kubeconfig',
    () =>
      writeKubeconfig(
        { 'certificate-authority-data': data('ca.crt') },
        { 'client-certificate-data': data('apiserver.crt'), 'client-key-data': data('apiserver.key') },
      ),
  ],
  [
    'in files that the kubeconfig names',
    () => {
      for (const name of ['ca.crt', 'apiserver.crt', 'apiserver.key'])
        copyFileSync(inDirectory(name), join(root, name));
      writeKubeconfig(
        { 'certificate-authority': join(root, 'ca.crt') },
        { 'client-certificate': join(root, 'apiserver.crt'), 'client-key': join(root, 'apiserver.key') },
      );
    },
  ],
])('certificate authority and client certificate %s', async (_, install) => {
  install();
  const request = await connect();
  expect(await request()).toBe('200');
  await rotateCertificates();
  await expect.poll(request).toContain('cannot trust');
  install();
  await expect.poll(request, { interval: 500 }).toBe('200');
});

test('token file of a ServiceAccount whose token was revoked', async () => {
  const admin = controlPlane.kubeconfigs.admin;
  // The certificates have been rotated, and kubectl reads the authority of the first.
  writeKubeconfig({ 'certificate-authority-data': data('ca.crt') }, { token: tokenOf(admin) });
  const administrator = join(root, 'admin.json');
  copyFileSync(kubeconfig, administrator);
  const file = join(root, 'token');
  const install = async (account: string) => {
    await kubectl(administrator, ['create', 'serviceaccount', account]);
    writeFileSync(file, await kubectl(administrator, ['create', 'token', account]));
  };
  await install('first');
  writeKubeconfig({ 'certificate-authority-data': data('ca.crt') }, { tokenFile: file });
  const request = await connect();
  expect(await request()).toBe('200');
  await kubectl(administrator, ['delete', 'serviceaccount', 'first']);
  // The API server remembers for ten seconds that the token was valid.
  await expect.poll(request, { interval: 500 }).toContain('Unauthorized');
  await install('second');
  await expect.poll(request, { interval: 500 }).toBe('200');
});

function tokenOf(path: string): string {
  const [entry] = JSON.parse(readFileSync(path, 'utf8')).users;
  return entry.user.token;
}
