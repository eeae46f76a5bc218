import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ApiClient,
  namespaceObject,
  nodeObject,
  podObject,
  reference,
  SluiceProcess,
  serviceObject,
} from '@sluice/conformance';
import {
  type ControlPlane,
  freePorts,
  type ServerProcess,
  startControlPlane,
  startKubeControllerManager,
} from '@sluice/local';
import { type Json, listAt, textAt } from '@sluice/shadow';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** A real kube-controller-manager with its endpoint controllers starts beside a Sluice that serves the cluster. */
const namespace = 'shop';
const sluiceUser = 'system:serviceaccount:sluice:sluice';
/** kube-controller-manager counts as gone 15 s after its lease has expired. */
const leaderElection = [
  '--leader-elect=true',
  '--leader-elect-lease-duration=6s',
  '--leader-elect-renew-deadline=4s',
  '--leader-elect-retry-period=1s',
];
let root: string;
let controlPlane: ControlPlane;
let admin: ApiClient;
let sluice: SluiceProcess;
let manager: ServerProcess | undefined;
let url: string;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'sluice-competing-controller-'));
  controlPlane = await startControlPlane({
    ...{ directory: join(root, 'prod'), name: 'prod', authorization: 'RBAC', audit: 'Metadata' },
    // A write is in the log before its client has the response.
    apiServerArgs: ['--audit-log-mode=blocking'],
  });
  admin = await ApiClient.open(controlPlane.adminKubeconfig);
  await admin.create('namespaces', namespaceObject(namespace));
  await admin.create('nodes', nodeObject({ name: 'node-a', zone: 'a' }));
  const kubeconfigs = join(root, 'kubeconfigs');
  mkdirSync(kubeconfigs);
  copyFileSync(controlPlane.kubeconfigs.sluice, join(kubeconfigs, 'prod'));
  const [port] = await freePorts(1);
  url = `http://127.0.0.1:${port}`;
  sluice = new SluiceProcess(['--kubeconfig', kubeconfigs, '--metrics-bind-address', `127.0.0.1:${port}`]);
});

afterAll(async () => {
  await sluice?.kill();
  await manager?.kill();
  await admin?.close();
  await controlPlane?.stop();
  rmSync(root, { recursive: true, force: true });
});

async function addService(name: string): Promise<void> {
  const ports = [{ name: 'web', port: 80, targetPort: 8080 }];
  await admin.create('services', serviceObject({ namespace, name, spec: { selector: { app: name }, ports } }));
}

async function addPod(app: string, number: number): Promise<void> {
  const name = `${app}-${number}`;
  await admin.create('pods', podObject({ namespace, name, labels: { app }, nodeName: 'node-a' }));
  const ip = `10.0.0.${number}`;
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }];
  const status = { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions };
  await admin.patch(reference('pods', { namespace, name }), { status }, 'status');
}

/** Names of the Pods in the EndpointSlices of a Service. */
async function podsIn(service: string): Promise<readonly string[]> {
  const slices = (await admin.list('endpointslices')).filter(({ metadata }) => {
    const { labels = {} } = metadata as { readonly labels?: Readonly<Record<string, string>> };
    return labels['kubernetes.io/service-name'] === service;
  });
  const endpoints = slices.flatMap((slice) => listAt(slice, 'endpoints'));
  return endpoints.map((endpoint) => textAt((endpoint as { readonly targetRef?: Json }).targetRef, 'name')).sort();
}

/** How many writes of this user to Endpoints and EndpointSlices the API server has accepted. */
function writesOf(user: string): number {
  const lines = readFileSync(controlPlane.auditLog ?? '', 'utf8').split('\n');
  const events = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as AuditEvent);
  return events.filter(
    ({ user: { username }, verb, objectRef, responseStatus }) =>
      username === user &&
      ['create', 'update', 'patch', 'delete'].includes(verb) &&
      ['endpoints', 'endpointslices'].includes(objectRef?.resource ?? '') &&
      (responseStatus?.code ?? 500) < 300,
  ).length;
}

interface AuditEvent {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource: string };
  readonly responseStatus?: { readonly code: number };
}

/** Why writes are paused, as the page Fleet shows it; empty if they are not. */
async function pausedBecause(): Promise<string> {
  const { clusters } = (await (await fetch(`${url}/api/v1/overview`)).json()) as {
    readonly clusters: readonly { readonly paused?: string }[];
  };
  expect(clusters).toHaveLength(1);
  return clusters[0]?.paused ?? '';
}

async function phase(): Promise<string> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return /^sluice_cluster_phase\{cluster="prod",phase="(\w+)"\} 1$/m.exec(metrics)?.[1] ?? '';
}

/** Log lines of one level. */
function logged(level: string): readonly unknown[] {
  const lines = sluice.stderr.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line)).filter((line) => line.level === level);
}

test('kube-controller-manager that starts later: writes stop, the reason is visible, and writes resume when it is gone', async () => {
  await addService('web');
  await addPod('web', 1);
  await expect.poll(() => podsIn('web')).toEqual(['web-1']);
  expect(writesOf(sluiceUser)).toBeGreaterThan(0);
  expect([await pausedBecause(), await phase()]).toEqual(['', 'serving']);

  manager = await startKubeControllerManager(controlPlane, { serviceAccountCredentials: true, args: leaderElection });
  await expect.poll(pausedBecause).toContain('kube-controller-manager is active');
  await expect.poll(phase).toBe('paused');
  expect(logged('error')).toContainEqual(
    expect.objectContaining({
      ...{ msg: 'pausing writes; another controller may write the same objects', cluster: 'prod' },
      why: expect.stringContaining('kube-controller-manager is active'),
      advice: expect.stringContaining('-endpointslice-controller'),
    }),
  );
  const written = writesOf(sluiceUser);
  await addService('other');
  await addPod('other', 2);
  await addPod('web', 3);
  await expect.poll(() => podsIn('other')).toEqual(['other-2']);
  await expect.poll(() => podsIn('web')).toEqual(['web-1', 'web-3']);
  expect(writesOf(sluiceUser)).toBe(written);

  await manager.stop();
  await addPod('web', 4);
  await expect.poll(() => podsIn('web')).toEqual(['web-1', 'web-3', 'web-4']);
  expect(writesOf(sluiceUser)).toBeGreaterThan(written);
  await expect.poll(pausedBecause).toBe('');
  await expect.poll(phase).toBe('serving');
  expect(logged('info')).toContainEqual(
    expect.objectContaining({ msg: 'resuming writes; no competing controller', cluster: 'prod' }),
  );
});
