import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ControlPlane, kubectl, startControlPlane } from '@sluice/local';
import { afterEach, beforeEach, expect, test } from 'vitest';

/** What the audit log of a real API server says about who wrote. */
const main = fileURLToPath(new URL('../services/sluice/src/main.ts', import.meta.url));
const accounts = fileURLToPath(new URL('../infra/kubernetes/controller-accounts.yaml', import.meta.url));

let directory: string;
let controlPlane: ControlPlane;
let sluice: ChildProcess | undefined;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-identity-'));
  controlPlane = await startControlPlane({ directory, name: 'local', authorization: 'RBAC', audit: 'Metadata' });
});

afterEach(async () => {
  sluice?.kill('SIGKILL');
  await controlPlane?.stop();
  rmSync(directory, { recursive: true, force: true });
});

const admin = (...args: string[]) => kubectl(controlPlane.adminKubeconfig, args);
const apply = (object: object) => kubectl(controlPlane.adminKubeconfig, ['apply', '-f', '-'], JSON.stringify(object));

function run(...flags: string[]): void {
  const options = ['run', '--kubeconfig', controlPlane.kubeconfigs.sluice, '--metrics-bind-address', '0'];
  sluice = spawn(process.execPath, [main, ...options, '--output', 'none', ...flags], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** A Service that gets Endpoints and a slice, with an Event about its hints, and Endpoints to mirror. */
async function createWork(): Promise<void> {
  const ports = [{ port: 80 }];
  const annotations = { 'service.kubernetes.io/topology-mode': 'Auto' };
  await apply({
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace: 'default', annotations } },
    spec: { selector: { app: 'web' }, ports },
  });
  await apply({
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'db', namespace: 'default' } },
    spec: { clusterIP: 'None', ports },
  });
  await apply({
    ...{ apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'db', namespace: 'default' } },
    subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports }],
  });
}

/** Each write to Endpoints, EndpointSlices and Events by Sluice: `endpoints by user as user agent`. */
function writes(): readonly string[] {
  const lines = readFileSync(controlPlane.auditLog ?? '', 'utf8')
    .trim()
    .split('\n');
  const found = new Set<string>();
  for (const { stage, verb, userAgent = '', user, objectRef, responseStatus } of lines.map((line) =>
    JSON.parse(line),
  )) {
    if (stage !== 'ResponseComplete' || !userAgent.startsWith('sluice/') || verb !== 'create') continue;
    if (!['endpoints', 'endpointslices', 'events'].includes(objectRef?.resource)) continue;
    const client = userAgent.replace(/^sluice\/\S+ \(\S+\) ?/, '');
    found.add(`${responseStatus.code} ${objectRef.resource} by ${user.username} as ${client}`);
  }
  return [...found].sort();
}

test('audit logs distinguish the controllers by their user agents (A1)', async () => {
  run();
  await createWork();
  const user = 'system:serviceaccount:sluice:sluice';
  await expect
    .poll(writes)
    .toEqual([
      `201 endpoints by ${user} as endpoint-controller`,
      `201 endpointslices by ${user} as endpointslice-controller`,
      `201 endpointslices by ${user} as endpointslicemirroring-controller`,
      `201 events by ${user} as endpointslice-controller`,
    ]);
});

test('each controller writes as its ServiceAccount, with the permissions of upstream (A1)', async () => {
  await admin('apply', '-f', accounts);
  run('--use-service-account-credentials');
  await createWork();
  const user = (name: string) => `system:serviceaccount:kube-system:${name} as ${name}`;
  await expect
    .poll(writes)
    .toEqual([
      `201 endpoints by ${user('endpoint-controller')}`,
      `201 endpointslices by ${user('endpointslice-controller')}`,
      `201 endpointslices by ${user('endpointslicemirroring-controller')}`,
      `201 events by ${user('endpointslice-controller')}`,
    ]);
});
