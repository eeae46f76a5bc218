import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient, namespaceObject, nodeObject, podObject, reference, serviceObject } from '@sluice/conformance';
import { type ControlPlane, startControlPlane, startKubeControllerManager } from '@sluice/local';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** What shadow mode prints on a real cluster: without any other controller, and beside kube-controller-manager. */
const program = join(import.meta.dirname, '..', 'bin', 'sluice');
const namespace = 'shop';
let root: string;
let cluster: ControlPlane;
let admin: ApiClient;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'sluice-trial-shadow-'));
  cluster = await startControlPlane({ directory: join(root, 'prod'), name: 'prod', authorization: 'RBAC' });
  admin = await ApiClient.open(cluster.adminKubeconfig);
  await admin.create('namespaces', namespaceObject(namespace));
  await admin.create('nodes', nodeObject({ name: 'node-a', zone: 'a' }));
  const ports = [{ name: 'web', port: 80, targetPort: 8080 }];
  await admin.create(
    'services',
    serviceObject({ namespace, name: 'cart', spec: { selector: { app: 'cart' }, ports } }),
  );
  const pod = podObject({ namespace, name: 'cart-1', labels: { app: 'cart' }, nodeName: 'node-a', ports: {} });
  await admin.create('pods', pod);
  await setReady(true);
});

afterAll(async () => {
  await admin?.close();
  await cluster?.stop();
  rmSync(root, { recursive: true, force: true });
});

async function setReady(ready: boolean): Promise<void> {
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: '2026-01-01T00:00:00Z' }];
  const status = { phase: 'Running', podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }], conditions };
  await admin.patch(reference('pods', { namespace, name: 'cart-1' }), { status }, 'status');
}

function shadow(seconds: number): Promise<{ readonly status: number; readonly output: string }> {
  const args = ['run', '--shadow', '--kubeconfig', cluster.kubeconfigs.sluice, '--for', `${seconds}s`];
  return new Promise((resolve) => {
    execFile(program, [...args, '--shadow-grace-period', '2s'], (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code), output: `${stdout}${stderr}` });
    });
  });
}

test('without another controller: each difference with both values, the Pod and the cause, and a hint that nobody writes', async () => {
  const running = shadow(20);
  // A change at run time, so that it has a cause of its own.
  await sleep(8_000);
  await setReady(false);
  await sleep(1_000);
  await setReady(true);
  const { status, output } = await running;
  expect(output).toContain('EndpointSlices of shop/cart (');
  expect(output).toMatch(/there ≠ Sluice's: the object: nothing ≠ with cart-1: \{/);
  expect(output).toMatch(/because:? Pod shop\/cart-1 became ready/);
  expect(output).toContain('no other controller has written yet, so nothing is compared');
  expect(output).toContain('Sluice was never first');
  expect(status).toBe(1);
});

test('beside kube-controller-manager: how often Sluice was first, and by how much', async () => {
  const manager = await startKubeControllerManager(cluster, { serviceAccountCredentials: true });
  try {
    const running = shadow(40);
    for (let i = 0; i < 25; i++) {
      await sleep(1_000);
      await setReady(i % 2 === 1);
    }
    const { status, output } = await running;
    expect(output).toMatch(/other controllers wrote \d+ times/);
    expect(output).toMatch(/Sluice was first (once|\d+ times), by [0-9.]+ m?s \(p50\)/);
    // The first page may appear before the first write.
    const last = output.slice(output.lastIndexOf('Shadow mode:'));
    expect(last).not.toContain('no other controller has written');
    expect(last).toContain('0 unexplained');
    expect(status).toBe(0);
  } finally {
    await manager.stop();
  }
});
