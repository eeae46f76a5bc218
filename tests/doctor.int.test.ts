import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  CONTROLLERS,
  type ControlPlane,
  kubectl,
  type ServerProcess,
  startControlPlane,
  startKubeControllerManager,
} from '@sluice/local';
import { afterAll, beforeAll, expect, test } from 'vitest';

interface Check {
  readonly check: string;
  readonly result: string;
  readonly detail: string;
}

/** `sluice doctor` and the start of a writer on a real API server, with kube-controller-manager running and stopped. */
const main = fileURLToPath(new URL('../services/sluice/src/main.ts', import.meta.url));
let directory: string;
let controlPlane: ControlPlane;
let manager: ServerProcess | undefined;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-doctor-'));
  controlPlane = await startControlPlane({ directory, name: 'doctor', authorization: 'RBAC' });
});

afterAll(async () => {
  await manager?.stop();
  await controlPlane?.stop();
  rmSync(directory, { recursive: true, force: true });
});

const sluice = (...args: string[]) => sluiceWith({}, ...args);

function sluiceWith(
  variables: NodeJS.ProcessEnv,
  ...args: string[]
): Promise<{ status: number; stdout: string; stderr: string }> {
  const env = { ...process.env, ...variables };
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { env }, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

async function doctor(kubeconfig: string, ...flags: string[]) {
  const { status, stdout } = await sluice('doctor', '--kubeconfig', kubeconfig, '-o', 'json', ...flags);
  const checks = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Check);
  return { status, of: (check: string) => checks.find((one) => one.check === check), checks };
}

async function migration(kubeconfig: string, ...flags: string[]) {
  const { status, stdout } = await sluice('migrate', 'check', '--kubeconfig', kubeconfig, '-o', 'json', ...flags);
  return { status, ...(JSON.parse(stdout) as { stage: string; distribution: string; next: string[] }) };
}

test('succeeds on an empty cluster with exactly the permissions of rbac.yaml', async () => {
  const { status, checks, of } = await doctor(controlPlane.kubeconfigs.sluice);
  expect(checks.filter(({ result }) => result === 'failed')).toEqual([]);
  expect(status).toBe(0);
  expect(of('version')?.detail).toMatch(/^v1\./);
  for (const check of ['discovery.k8s.io/v1', 'clock', 'permissions of the watcher', 'permissions of the writer']) {
    expect(of(check)?.result, check).toBe('ok');
  }
  expect(await migration(controlPlane.kubeconfigs.sluice)).toMatchObject({
    ...{ status: 1, stage: 'nobody', distribution: 'a self-built control plane' },
    next: [expect.stringContaining('start Sluice'), expect.anything()],
  });
  expect((await migration(controlPlane.kubeconfigs.sluice)).next.join()).toContain(
    `sluice run --leader-elect --kubeconfig ${controlPlane.kubeconfigs.sluice} --context`,
  );
});

test('--probe, which writes, names the flags that select the cluster of kubectl', async () => {
  const admin = controlPlane.kubeconfigs.admin;
  const refused = await sluiceWith({ KUBECONFIG: admin }, 'doctor', '--probe');
  expect(refused.status).toBe(2);
  expect(refused.stderr).toMatch(/--probe creates a Service.*: sluice doctor --probe --context \S+$/m);
});

test('refuses to start beside kube-controller-manager, with advice, unless --take-over is set', async () => {
  manager = await startKubeControllerManager(controlPlane, { serviceAccountCredentials: true });
  const admin = controlPlane.kubeconfigs.admin;
  await kubectl(admin, ['create', 'service', 'clusterip', 'web', '--tcp=80']);
  await expect.poll(() => kubectl(admin, ['get', 'endpointslices', '--output=name'])).toContain('web');
  const { status, of } = await doctor(admin);
  expect(of('other controllers')).toMatchObject({
    result: 'failed',
    detail: expect.stringMatching(/^kube-controller-manager wrote endpoint\w+ default\/web\S* \d+ s ago$/),
    advice: expect.stringContaining(
      '-endpoints-controller,-endpointslice-controller,-endpointslice-mirroring-controller',
    ),
  });
  expect(status).toBe(1);
  expect(await migration(admin)).toMatchObject({
    ...{ status: 0, stage: 'kube-controller-manager' },
    next: expect.arrayContaining([expect.stringContaining('-endpointslice-mirroring-controller')]),
  });
  expect(await migration(admin, '--rollback')).toMatchObject({ status: 0, next: [] });
  expect((await doctor(admin, '--probe')).of('other controllers')).toMatchObject({
    result: 'failed',
    detail: expect.stringMatching(/^kube-controller-manager wrote .* for the probe$/),
  });
  const run = ['run', '--kubeconfig', admin, '--metrics-bind-address', '0', '-o', 'none'];
  // The program exits as soon as it has found the other controller.
  const refused = await sluice(...run, '--for', '60s');
  expect(refused.status).toBe(2);
  expect(refused.stderr).toContain('another controller writes');
  expect((await sluice(...run, '--for', '1s', '--take-over')).status).toBe(0);
});

test.each(CONTROLLERS)('a probe finds the %s alone, and leaves nothing', async (controller) => {
  await manager?.stop();
  manager = undefined;
  const options = { serviceAccountCredentials: true, controllers: [controller] };
  manager = await startKubeControllerManager(controlPlane, options);
  const admin = controlPlane.kubeconfigs.admin;
  expect((await doctor(admin, '--probe')).of('other controllers')).toMatchObject({
    result: 'failed',
    detail: expect.stringMatching(/^kube-controller-manager wrote Endpoint\w* default\/sluice-probe-/),
  });
  expect(await kubectl(admin, ['get', 'services,endpoints', '--output=name'])).not.toContain('sluice-probe');
});

test('refuses to start while kube-controller-manager has a live lease and nothing shows its flags; a probe settles it', async () => {
  await manager?.stop();
  manager = undefined;
  const admin = controlPlane.kubeconfigs.admin;
  const now = new Date().toISOString().replace('Z', '000Z');
  const lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'kube-controller-manager', namespace: 'kube-system' },
    spec: { holderIdentity: 'node-1_x', leaseDurationSeconds: 3_600, acquireTime: now, renewTime: now },
  };
  await kubectl(admin, ['apply', '--filename=-'], JSON.stringify(lease));
  const run = ['run', '--kubeconfig', admin, '--metrics-bind-address', '0', '-o', 'none'];
  const refused = await sluice(...run, '--for', '60s');
  expect(refused.status).toBe(2);
  expect(refused.stderr).toContain('another controller may write');
  expect(refused.stderr).toContain('sluice doctor --probe');
  expect(await doctor(admin, '--probe')).toMatchObject({ status: 0 });
  expect(await kubectl(admin, ['get', 'services', '--output=name'])).not.toContain('sluice-probe');
  expect((await sluice(...run, '--for', '1s', '--take-over')).status).toBe(0);
});

test('accepts objects of a kube-controller-manager whose lease has expired', async () => {
  await manager?.stop();
  manager = undefined;
  const admin = controlPlane.kubeconfigs.admin;
  const lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'kube-controller-manager', namespace: 'kube-system' },
    spec: {
      holderIdentity: 'node-1_x',
      leaseDurationSeconds: 1,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: new Date().toISOString().replace('Z', '000Z'),
    },
  };
  await kubectl(admin, ['apply', '--filename=-'], JSON.stringify(lease));
  await expect
    .poll(async () => (await doctor(admin)).of('other controllers'))
    .toMatchObject({ result: 'ok', detail: expect.stringContaining('has not renewed its leader lease') });
  const run = await sluice('run', '--kubeconfig', admin, '--for', '1s', '--metrics-bind-address', '0', '-o', 'none');
  expect(run).toMatchObject({ status: 0 });
});

test('reports an unreachable cluster and missing permissions, with advice', async () => {
  const gone = await sluice('doctor', '--kubeconfig', join(directory, 'none'), '-o', 'table');
  expect(gone.status).not.toBe(0);
  await kubectl(controlPlane.kubeconfigs.admin, [
    'delete',
    'clusterrolebinding',
    '--selector=app.kubernetes.io/name=sluice',
  ]);
  const { status, of } = await doctor(controlPlane.kubeconfigs.sluice);
  expect(status).toBe(1);
  expect(of('permissions of the writer')).toMatchObject({
    result: 'failed',
    detail: expect.stringContaining('create endpointslices.discovery.k8s.io'),
  });
});
