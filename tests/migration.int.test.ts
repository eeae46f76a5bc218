import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ApiClient, reference, SluiceProcess } from '@sluice/conformance';
import {
  CONTROLLERS,
  type ControlPlane,
  type ServerProcess,
  startControlPlane,
  startKubeControllerManager,
} from '@sluice/local';
import { errorMessage, sleep } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { until } from '@sluice/platform/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createNamespace, createPod, createService, setReady, wrongEndpoints } from './harness/real-services.ts';

/**
 * From kube-controller-manager to Sluice and back, under load, as docs/guides/migrate.md says. This test is the kubelet: it
 * creates the Pod of kube-controller-manager with the flags of the process that runs.
 */
const steady = ['alpha', 'beta', 'gamma'];
const upstreamUser = /^system:(kube-controller-manager|serviceaccount:kube-system:endpoint)/;
const sluiceUser = 'system:serviceaccount:sluice:sluice';
const off = CONTROLLERS.map((name) => `-${name}`);
const leaderElection = ['--leader-elect=true', '--leader-elect-lease-duration=8s', '--leader-elect-renew-deadline=5s'];

let root: string;
let controlPlane: ControlPlane;
let admin: ApiClient;
let manager: ServerProcess | undefined;
let sluice: SluiceProcess | undefined;
let flips = 0;
const load = new AbortController();
let loading: Promise<void>;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'sluice-migration-'));
  controlPlane = await startControlPlane({
    ...{ directory: join(root, 'prod'), name: 'prod', authorization: 'RBAC', audit: 'Metadata' },
    // A write is in the log before its client has the response.
    apiServerArgs: ['--audit-log-mode=blocking'],
  });
  admin = await ApiClient.open(controlPlane.adminKubeconfig);
  await createNamespace(admin);
  for (const service of [...steady, 'busy']) {
    await createService(admin, service);
    for (let i = 0; i < 3; i++) await createPod(admin, service, i);
  }
});

afterAll(async () => {
  load.abort();
  await loading;
  await sluice?.kill();
  await manager?.kill();
  await admin?.close();
  await controlPlane?.stop();
  rmSync(root, { recursive: true, force: true });
});

/** Restarts kube-controller-manager with these controllers, and its Pod, as the kubelet does. */
async function restartManager(controllers: readonly string[]): Promise<void> {
  const pod = reference('pods', { namespace: 'kube-system', name: 'kube-controller-manager' });
  if (manager !== undefined) {
    await manager.stop();
    await admin.delete(pod);
  }
  manager = await startKubeControllerManager(controlPlane, {
    ...{ controllers, serviceAccountCredentials: true, args: leaderElection },
  });
  const command = ['kube-controller-manager', `--controllers=${controllers.join(',')}`, ...leaderElection];
  await admin.create('pods', {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: { ...{ namespace: 'kube-system', name: pod.name }, labels: { component: 'kube-controller-manager' } },
    spec: { nodeName: hostname(), hostNetwork: true, containers: [{ name: 'manager', image: 'manager', command }] },
  });
  const running = { startedAt: new Date().toISOString() };
  const status = {
    ...{ name: 'manager', ready: true, restartCount: 0, image: 'manager', imageID: '' },
    state: { running },
  };
  await admin.patch(pod, { status: { phase: 'Running', containerStatuses: [status] } }, 'status');
}

/** Changes the readiness of a Pod of the Service `busy` again and again. */
async function changePods(): Promise<void> {
  while (!load.signal.aborted) {
    await setReady(admin, 'busy', 0, flips % 2 === 1);
    flips += 1;
    // biome-ignore lint/plugin: paces the load
    await sleep(systemClock, 100, load.signal);
  }
}

interface Write {
  readonly user: string;
  readonly object: string;
  readonly at: number;
}

/** Accepted writes to Endpoints and EndpointSlices, oldest first. */
function writes(): readonly Write[] {
  return readFileSync(controlPlane.auditLog ?? '', 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter(
      ({ verb, objectRef, responseStatus }) =>
        ['create', 'update', 'patch', 'delete'].includes(verb) &&
        /^endpoint/.test(objectRef?.resource ?? '') &&
        responseStatus.code < 300,
    )
    .map(({ user, objectRef, stageTimestamp }) => ({
      ...{ user: user.username, object: `${objectRef?.resource} ${objectRef?.name}`, at: Date.parse(stageTimestamp) },
    }));
}

interface AuditEvent {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource: string; readonly name?: string };
  readonly responseStatus: { readonly code: number };
  readonly stageTimestamp: string;
}

const by = (user: 'upstream' | 'sluice') => (write: Write) =>
  user === 'sluice' ? write.user === sluiceUser : upstreamUser.test(write.user);

/** Waits until `user` has written `count` more times. */
async function untilWriting(user: 'upstream' | 'sluice', count = 5): Promise<void> {
  const before = writes().filter(by(user)).length;
  await until(`writes of ${user}`, () => writes().filter(by(user)).length >= before + count, details);
}

const details = () => sluice?.stderr ?? '';

function checked(...flags: string[]): Promise<{ stage: string; next: string[] }> {
  const main = fileURLToPath(new URL('../services/sluice/src/main.ts', import.meta.url));
  const args = [main, 'migrate', 'check', '--kubeconfig', controlPlane.kubeconfigs.admin, '-o', 'json', ...flags];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, (_, stdout, stderr) => {
      try {
        resolve(JSON.parse(stdout) as { stage: string; next: string[] });
      } catch (error) {
        reject(new Error(`${errorMessage(error)}\n${stderr}`));
      }
    });
  });
}

/** The longest time without a write to the Service that changes all the time, around a change of hands. */
const longestGap = (all: readonly Write[]): number =>
  Math.max(...all.slice(1).map(({ at }, i) => at - (all[i]?.at ?? at)));

test('steady Services keep their endpoints on the way to Sluice and back', async () => {
  await restartManager(['*', 'tokencleaner']);
  await expect.poll(() => wrongEndpoints(admin)).toEqual([]);
  loading = changePods();
  await untilWriting('upstream');
  const settled = writes().length;
  // On a busy machine, kube-controller-manager may renew its lease late.
  await expect.poll(async () => (await checked()).next).toHaveLength(4);

  sluice = new SluiceProcess(['--kubeconfig', controlPlane.kubeconfigs.sluice, '--leader-elect']);
  await expect.poll(async () => (await checked()).next).toHaveLength(2);
  expect(writes().filter(by('sluice'))).toEqual([]);
  await expect.poll(() => checked()).toMatchObject({ stage: 'kube-controller-manager' });

  const way = { in: writes().length, back: 0 };
  await restartManager(['*', 'tokencleaner', ...off]);
  await untilWriting('sluice', 20);
  await expect.poll(() => checked()).toMatchObject({ stage: 'sluice', next: [] });

  way.back = writes().length;
  await restartManager(['*', 'tokencleaner']);
  await untilWriting('upstream', 20);
  await expect.poll(async () => (await checked('--rollback')).stage).toBe('both');
  await sluice.stop();
  await untilWriting('upstream');
  load.abort();
  await loading;
  await expect.poll(() => wrongEndpoints(admin)).toEqual([]);
  // The claim of the stopped process expires.
  await expect.poll(async () => (await checked('--rollback')).stage).toBe('kube-controller-manager');
  await expect.poll(async () => (await checked('--rollback')).next).toEqual([]);

  const all = writes();
  const toSteady = all.slice(settled).filter(({ object }) => steady.some((service) => object.includes(` ${service}`)));
  expect(toSteady).toEqual([]);
  const gaps = { in: longestGap(all.slice(way.in - 1, way.back)), back: longestGap(all.slice(way.back - 1)) };
  console.log(`${all.length - settled} writes; longest gap to Sluice ${gaps.in} ms, back ${gaps.back} ms`);
});
