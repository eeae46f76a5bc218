import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ControlPlane, kubectl, startControlPlane } from '@sluice/local';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

/** The claim of a cluster on a real API server with RBAC (ADR 0054): the Lease kube-system/sluice. */
const main = fileURLToPath(new URL('../services/sluice/src/main.ts', import.meta.url));
const quiet = ['--metrics-bind-address', '0', '-o', 'none'];
let directory: string;
let controlPlane: ControlPlane;
const running = new Set<ChildProcess>();

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-claims-'));
  controlPlane = await startControlPlane({ directory: join(directory, 'a'), name: 'claims', authorization: 'RBAC' });
});

afterEach(async () => {
  for (const child of running) await stop(child, 'SIGTERM');
});

afterAll(async () => {
  await controlPlane?.stop();
  rmSync(directory, { recursive: true, force: true });
});

function start(...flags: string[]): ChildProcess {
  const child = spawn(process.execPath, [main, 'run', ...quiet, ...flags], { stdio: ['ignore', 'ignore', 'inherit'] });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

async function stop(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await exited;
}

/** Runs until it is refused, or for 15 s. */
function tryToRun(...flags: string[]): Promise<{ readonly status: number; readonly stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [main, 'run', ...quiet, '--for', '15s', ...flags], (error, _, stderr) =>
      resolve({ status: error === null ? 0 : Number(error.code), stderr }),
    );
  });
}

async function holder(): Promise<string> {
  const path = ['get', 'lease', 'sluice', '--namespace=kube-system', '--output=jsonpath={.spec.holderIdentity}'];
  return kubectl(controlPlane.kubeconfigs.admin, path);
}

test('of two processes on one host one is refused; a clean exit frees the claim at once', async () => {
  const flags = ['--kubeconfig', controlPlane.kubeconfigs.sluice];
  const first = start(...flags);
  await expect.poll(holder).toContain(`_${first.pid}_`);
  const second = await tryToRun(...flags);
  expect(second.status).toBe(2);
  expect(second.stderr).toContain(`is claimed by the fleet "sluice run" (id`);
  expect(second.stderr).toContain(`_${first.pid}_`);
  await stop(first, 'SIGTERM');
  expect(await holder()).toBe('');
  expect(await tryToRun(...flags)).toMatchObject({ status: 0 });
});

test('a process that was killed is replaced once its claim has expired, without an error', async () => {
  const flags = ['--kubeconfig', controlPlane.kubeconfigs.sluice];
  const first = start(...flags);
  await expect.poll(holder).toContain(`_${first.pid}_`);
  await stop(first, 'SIGKILL');
  const second = start(...flags);
  await expect.poll(holder).toContain(`_${second.pid}_`);
});

test('a changed kubeconfig never releases the claim of the connection that serves', async () => {
  const kubeconfigs = join(directory, 'kubeconfigs');
  mkdirSync(kubeconfigs);
  const kubeconfig = join(kubeconfigs, 'prod');
  copyFileSync(controlPlane.kubeconfigs.sluice, kubeconfig);
  const child = start('--kubeconfig', kubeconfigs);
  await expect.poll(holder).toContain(`_${child.pid}_`);
  const transitions = async () => {
    const path = ['get', 'lease', 'sluice', '--namespace=kube-system', '--output=jsonpath={.spec.acquireTime}'];
    return kubectl(controlPlane.kubeconfigs.admin, path);
  };
  const acquired = await transitions();
  const seen = new Set<string>();
  copyFileSync(controlPlane.kubeconfigs.admin, kubeconfig);
  await expect
    .poll(async () => {
      seen.add(await holder());
      return (await transitions()) !== acquired;
    })
    .toBe(true);
  // Released and claimed again when the connection changes, by this process only.
  expect([...seen].filter((one) => one !== '' && !one.includes(`_${child.pid}_`))).toEqual([]);
  expect(await holder()).toContain(`_${child.pid}_`);
});

test('without permission for the Lease, Sluice names it and exits with status 2, unless --take-over is set', async () => {
  const { admin, sluice } = controlPlane.kubeconfigs;
  const rules = [
    { apiGroups: [''], resources: ['pods'], verbs: ['list'] },
    {
      apiGroups: ['coordination.k8s.io'],
      resources: ['leases'],
      resourceNames: ['kube-controller-manager'],
      verbs: ['get'],
    },
  ];
  const role = ['patch', 'role', 'sluice-writer', '--namespace=kube-system', '--type=merge'];
  await kubectl(admin, [...role, `--patch=${JSON.stringify({ rules })}`]);
  const flags = ['--kubeconfig', sluice];
  // RBAC changes take effect with a delay.
  await expect.poll(async () => (await tryToRun(...flags)).status).toBe(2);
  const { stderr } = await tryToRun(...flags);
  expect(stderr).toContain('grant get and update on leases.coordination.k8s.io "sluice" in the namespace kube-system');
  expect(stderr).toContain('infra/kubernetes/rbac.yaml');
  expect(await tryToRun(...flags, '--take-over')).toMatchObject({ status: 0 });
});
