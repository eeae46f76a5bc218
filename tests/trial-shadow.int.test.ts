import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ApiClient, namespaceObject, nodeObject, podObject, reference, serviceObject } from '@sluice/conformance';
import { type ControlPlane, startControlPlane, startKubeControllerManager } from '@sluice/local';
import { labelOf, listAt, objectAt, serviceNameLabel } from '@sluice/shadow';
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
  await createService('cart');
  await createPod('cart');
  await setReady(true);
});

afterAll(async () => {
  await admin?.close();
  await cluster?.stop();
  rmSync(root, { recursive: true, force: true });
});

async function createService(name: string): Promise<void> {
  const ports = [{ name: 'web', port: 80, targetPort: 8080 }];
  await admin.create('services', serviceObject({ namespace, name, spec: { selector: { app: name }, ports } }));
}

async function createPod(app: string, name = `${app}-1`): Promise<void> {
  await admin.create('pods', podObject({ namespace, name, labels: { app }, nodeName: 'node-a', ports: {} }));
}

async function crash(name: string): Promise<void> {
  const conditions = [{ type: 'Ready', status: 'False', reason: 'ContainersNotReady' }];
  const state = { waiting: { reason: 'CrashLoopBackOff' } };
  const containerStatuses = [{ name: 'app', image: 'app', imageID: '', ready: false, restartCount: 3, state }];
  await admin.patch(reference('pods', { namespace, name }), { status: { conditions, containerStatuses } }, 'status');
}

async function leaveUnscheduled(name: string): Promise<void> {
  const message = '0/1 nodes are available';
  const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }];
  await admin.patch(reference('pods', { namespace, name }), { status: { conditions } }, 'status');
}

async function setReady(ready: boolean): Promise<void> {
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: '2026-01-01T00:00:00Z' }];
  const status = { phase: 'Running', podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }], conditions };
  await admin.patch(reference('pods', { namespace, name: 'cart-1' }), { status }, 'status');
}

const reportFile = (): string => join(root, 'report.json');
const report = (): unknown => JSON.parse(readFileSync(reportFile(), 'utf8'));

/** Shadow mode in a process of its own, with the permissions of a watcher, until it is stopped. */
class Shadow {
  output = '';
  readonly #child: ChildProcess;
  readonly #status: Promise<number | null>;

  constructor(gracePeriod: string, kubeconfig = cluster.kubeconfigs['sluice-watcher']) {
    const args = ['run', '--shadow', '--kubeconfig', kubeconfig, '--for', '30m', '--shadow-report', reportFile()];
    this.#child = spawn(program, [...args, '--shadow-grace-period', gracePeriod]);
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output += text;
      });
    this.#status = new Promise((resolve) => this.#child.once('close', resolve));
  }

  /** Returns the exit status. */
  stop(): Promise<number | null> {
    this.#child.kill('SIGTERM');
    return this.#status;
  }
}

/** Asks the console of a run. */
async function ask(shadow: Shadow, ...question: readonly string[]): Promise<string> {
  const [address = 'none'] = /(?<=^Console: )http\S+/m.exec(shadow.output) ?? [];
  return (await promisify(execFile)(program, [...question, '--console', address])).stdout;
}

/** Has started comparing. */
async function started(gracePeriod: string, kubeconfig?: string): Promise<Shadow> {
  const shadow = new Shadow(gracePeriod, kubeconfig);
  await expect.poll(() => shadow.output).toContain('Shadow mode:');
  return shadow;
}

test('without another controller: each difference with both values, the Pod and the cause, and a hint that nobody writes', async () => {
  const shadow = await started('2s');
  for (const ready of [false, true]) {
    await setReady(ready);
    // Reported after the change of the Pod has been decided.
    await createService(`after-${ready}`);
    await expect.poll(() => shadow.output).toContain(`EndpointSlices of shop/after-${ready} in `);
  }
  const status = await shadow.stop();
  const { output } = shadow;
  expect(output).toContain('EndpointSlices of shop/cart in ');
  expect(output).toMatch(/there ≠ Sluice's: the object: nothing ≠ with cart-1: \{/);
  expect(output).toMatch(/because:? Pod shop\/cart-1 became ready/);
  expect(output).toContain('no other controller has written yet, so nothing is compared');
  expect(output).toContain('Sluice was never first');
  expect(output).toMatch(
    /^FAIL: 3 Services with unexplained differences after .*, 0 writes of other controllers compared$/m,
  );
  expect(status).toBe(1);
  expect(report()).toMatchObject({ verdict: 'fail', writes: 0 });
});

/** Whether the slice of the Service shows its Pod as ready. */
async function isShownReady(): Promise<boolean | undefined> {
  const slices = await admin.list('endpointslices');
  const own = slices.find((slice) => labelOf(slice, serviceNameLabel) === 'cart');
  const [endpoint] = own === undefined ? [] : listAt(own, 'endpoints');
  return objectAt(endpoint, 'conditions').ready as boolean | undefined;
}

test('beside kube-controller-manager: how often Sluice was first, and by how much', async () => {
  const manager = await startKubeControllerManager(cluster, { serviceAccountCredentials: true });
  try {
    const shadow = await started('30s');
    for (let i = 0; i < 25; i++) {
      await setReady(i % 2 === 1);
      await expect.poll(isShownReady).toBe(i % 2 === 1);
    }
    await createPod('cart', 'cart-2');
    await crash('cart-1');
    await leaveUnscheduled('cart-2');
    const explain = () => ask(shadow, 'explain', 'shop/cart');
    await expect.poll(explain).toContain('app: waiting (CrashLoopBackOff), 3 restarts');
    await expect.poll(explain).toContain('the Pod has no IP yet (Unschedulable: 0/1 nodes are available)');
    const answers = await Promise.all([ask(shadow, 'explain', 'shop/cart'), ask(shadow, 'history', 'shop/cart')]);
    const status = await shadow.stop();
    const { output } = shadow;
    // Sluice decided the same, but wrote nothing.
    expect(answers[0]).toContain('cart-1');
    expect(answers[1]).toMatch(/EndpointSlice cart-\w+ was modified by kube-controller-manager/);
    expect(answers[1]).toContain('Pod shop/cart-1 became ready');
    expect(answers[1]).not.toMatch(/decided|applied/);
    expect(output).toMatch(/other controllers wrote \d+ times/);
    expect(output).toMatch(/Sluice was first (once|\d+ times), by [0-9.]+ m?s \(p50\)/);
    // The first page may appear before the first write.
    const last = output.slice(output.lastIndexOf('Shadow mode:'));
    expect(last).not.toContain('no other controller has written');
    expect(last).toContain('0 unexplained');
    expect(output).toMatch(/^PASS: 0 unexplained differences after .*, \d+ writes of other controllers compared/m);
    expect(status).toBe(0);
    expect(report()).toMatchObject({ verdict: 'pass', services: { unexplained: 0 }, differences: [] });
  } finally {
    await manager.stop();
  }
});

test('of several clusters, one that cannot be reached and one that is there twice are left out', async () => {
  const directory = join(root, 'clusters');
  mkdirSync(directory);
  const known = cluster.kubeconfigs['sluice-watcher'];
  for (const name of ['east', 'same']) copyFileSync(known, join(directory, `${name}.kubeconfig`));
  const config = readFileSync(known, 'utf8');
  writeFileSync(
    join(directory, 'lost.kubeconfig'),
    config.replace(/https:\/\/127\.0\.0\.1:\d+/, 'https://127.0.0.1:9'),
  );
  const shadow = await started('30s', directory);
  await shadow.stop();
  const { output } = shadow;
  expect(output).toMatch(/cluster left out of the comparison.*lost/);
  expect(output).toMatch(/cluster left out of the comparison.*it is the same cluster as/);
  expect(report()).toMatchObject({ clusters: [{ server: expect.stringContaining('127.0.0.1') }] });
});
