import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ApiClient, podObject } from '@sluice/conformance';
import { ConsoleClient, type HistoryEntry } from '@sluice/console/client';
import {
  type ControlPlane,
  freePorts,
  kubectl,
  type ServerProcess,
  startControlPlane,
  startKubeControllerManager,
} from '@sluice/local';
import { randomInteger, seededRandom } from '@sluice/platform';
import { until } from '@sluice/platform/testing';
import { isObject, listAt, objectAt, textAt } from '@sluice/shadow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createNamespace, createPod, createService, setReady } from './harness/real-services.ts';

/** `sluice observe` beside kube-controller-manager, with the permissions of observe.yaml and no others. */
const [program, manifests] = ['../bin/sluice', '../infra/kubernetes/observe.yaml'].map((path) =>
  join(import.meta.dirname, path),
) as [string, string];
const user = 'system:serviceaccount:sluice:sluice-observer';
const manager = 'kube-controller-manager';
const [services, pods] = [['cart', 'orders'], 3] as const;
let root: string;
let cluster: ControlPlane;
let controllers: ServerProcess;
let admin: ApiClient;
let url: string;
let observer: ChildProcess;
let output = '';

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'sluice-observe-'));
  const options = { name: 'prod', authorization: 'RBAC', grantSluice: false, audit: 'Metadata' } as const;
  cluster = await startControlPlane({ ...options, directory: join(root, 'prod') });
  await kubectl(cluster.adminKubeconfig, ['apply', '-f', manifests]);
  controllers = await startKubeControllerManager(cluster, { serviceAccountCredentials: true });
  admin = await ApiClient.open(cluster.adminKubeconfig);
  await createNamespace(admin);
  for (const service of services) await createService(admin, service);

  const [port = 0] = await freePorts(1);
  url = `http://127.0.0.1:${port}`;
  await startObserver();
});

async function startObserver(): Promise<void> {
  output = '';
  const { host } = new URL(url);
  const flags = ['--metrics-bind-address', host, '--recording-dir', join(root, 'recording')];
  observer = spawn(program, ['observe', '--kubeconfig', cluster.kubeconfigs['sluice-observer'], ...flags]);
  collectOutput();
  await until('the observer records', async () => output.includes('recording cluster'));
}

function collectOutput(): void {
  for (const stream of [observer.stdout, observer.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
}

afterAll(async () => {
  observer?.kill('SIGKILL');
  await admin?.close();
  await cluster?.stop();
  rmSync(root, { recursive: true, force: true });
});

async function sluice(...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)(program, [...args, '--console', url])).stdout;
}

interface Flip {
  readonly pod: string;
  readonly ready: boolean;
}

/** Whether the slices show the Pod with this readiness. */
async function isShown(pod: string, ready: boolean): Promise<boolean> {
  const endpoints = (await admin.list('endpointslices')).flatMap((slice) => listAt(slice, 'endpoints'));
  const endpoint = endpoints.find((one) => textAt(objectAt(one, 'targetRef'), 'name') === pod);
  return objectAt(endpoint, 'conditions').ready === ready;
}

/**
 * Changes the readiness of random Pods. A Pod changes again only once its slice shows the last change, so that each change is one
 * write; several Pods change meanwhile.
 */
async function flipPods(count: number, seed: number): Promise<readonly Flip[]> {
  const random = seededRandom(seed);
  const ready = new Map<string, boolean>();
  const flips: Flip[] = [];
  for (let i = 0; i < count; i++) {
    const service = services[randomInteger(random, 0, services.length - 1)] ?? services[0];
    const number = randomInteger(random, 1, pods);
    const pod = `${service}-${number}`;
    const former = ready.get(pod) ?? true;
    await expect.poll(() => isShown(pod, former)).toBe(true);
    ready.set(pod, !former);
    await setReady(admin, service, number, !former);
    flips.push({ pod, ready: !former });
  }
  return flips;
}

const historyOf = async (client: ConsoleClient, service: string): Promise<readonly HistoryEntry[]> => {
  const { items: found } = await client.services({ q: service });
  const [summary] = found;
  if (summary === undefined) return [];
  return (await client.history({ ...summary, service: summary.name }, { limit: 5_000 })).entries;
};

/** Changes of a Pod's readiness in the history: when each event arrived, and what is said of the writes of slices that show them. */
function flipsIn(entries: readonly HistoryEntry[], pod: string) {
  const observed = entries.flatMap((entry) =>
    entry.kind === 'observed' ? entry.observations.map((one) => ({ at: entry.at, ...one })) : [],
  );
  const isFlip = (text: string) => text.startsWith('became ready') || text.startsWith('became not ready');
  const events = observed.filter(({ of, name, text }) => of === 'pod' && name === pod && isFlip(text));
  const writes = observed.flatMap(({ of, write }) => {
    const endpoint = write?.endpoints.find((one) => one.pod === pod);
    const ready = endpoint?.after?.ready;
    if (of !== 'slice' || write === undefined || ready === undefined || ready === endpoint?.before?.ready) return [];
    const cause = write.causes.first.find(({ description }) => description.startsWith(`Pod shop/${pod} became `));
    return [{ ready, by: write.manager, from: write.inferredFrom, causedAt: cause?.observedAt }];
  });
  return { events: events.map(({ at }) => at), writes };
}

test('each write of kube-controller-manager has the change of the Pod that caused it', async () => {
  for (const service of services)
    for (let number = 1; number <= pods; number++) await createPod(admin, service, number);
  const client = new ConsoleClient({ url });
  const readyPods = async () => {
    const { items: found } = await client.services({});
    return found.filter(({ namespace }) => namespace === 'shop').map(({ ready }) => ready);
  };
  await expect.poll(readyPods).toEqual([pods, pods]);

  const since = Date.now();
  const flipsByPod = Map.groupBy(await flipPods(200, 1), ({ pod }) => pod);
  // The n-th change of a Pod is its n-th write, whatever came when.
  for (const [pod, flips] of flipsByPod) {
    const service = services.find((name) => pod.startsWith(name)) ?? '';
    const expected = flips.map(({ ready }) => ready);
    const found = async () => {
      const { events, writes } = flipsIn(await historyOf(client, service), pod);
      return { events: events.slice(-expected.length), writes: writes.slice(-expected.length) };
    };
    await expect.poll(async () => (await found()).writes.map(({ ready }) => ready)).toEqual(expected);
    const { events, writes } = await found();
    const byManager = { by: manager, from: 'content' };
    expect(writes).toEqual(expected.map((ready, i) => ({ ready, ...byManager, causedAt: events[i] })));
  }

  const changes = await client.readinessChanges({ since, limit: 100 });
  const counted = new Map(changes.map((one) => [one.pod, one.changes]));
  expect(counted).toEqual(new Map([...flipsByPod].map(([pod, flips]) => [pod, flips.length])));
  const propagations = await client.propagations({ since, limit: 1_000 });
  const inSlices = propagations.filter(({ place }) => place === 'slices').map(({ end }) => end);
  expect(inSlices).toHaveLength(200);
  // If the watch of the slices is behind that of the Pods, a later change seems to supersede one that was written.
  expect(inSlices.filter((end) => end === 'written').length).toBeGreaterThan(150);
});

test('explain and history name the writer and the cause', async () => {
  await setReady(admin, 'cart', 1, false);
  await expect.poll(() => sluice('explain', 'shop/cart', '--pod', 'cart-1')).toContain('Ready is False');
  await expect
    .poll(() => sluice('history', 'shop/cart'))
    .toMatch(
      /EndpointSlice cart-\w+ was modified by kube-controller-manager: ~ cart-1\s+because: Pod shop\/cart-1 became not ready, [0-9.]+ m?s before/,
    );
  expect(output).toContain('and writes nothing');
});

test('outages lists when a Service had no ready endpoint', async () => {
  for (let number = 1; number <= pods; number++) await setReady(admin, 'orders', number, false);
  await expect
    .poll(() => sluice('outages'))
    .toMatch(/orders +[0-9:.]+ +continues +Pod shop\/orders-\d became not ready/);
  await setReady(admin, 'orders', 1, true);
  await expect.poll(() => sluice('outages', '-n', 'shop')).toMatch(/orders +[0-9:.]+ +[0-9.]+ m?s /);
  expect(await sluice('outages', '-n', 'pay')).toBe('No Service was without a ready endpoint in this period.\n');
});

test('stuck lists what a stopped controller does not write, and slow how long it took', async () => {
  await controllers.stop();
  await setReady(admin, 'cart', 2, false);
  await expect
    .poll(() => sluice('stuck', '--for', '1s'))
    .toMatch(/cart-2 +ready → not ready +slices +[0-9:.]+ +\S+ s, con/);
  expect(await sluice('stuck', '--for', '1s')).toMatch(/cart-2 +ready → not ready +Endpoints/);
  const wrong = sluice('verify', 'shop/cart');
  await expect(wrong).rejects.toMatchObject({ code: 1, stdout: expect.stringContaining('slices: wrong since ') });
  await controllers.start();
  await expect.poll(() => sluice('stuck')).toBe('Slices and Endpoints show every Pod as they should.\n');
  expect(await sluice('verify', 'shop/cart')).toMatch(/slices: as they should be since [0-9:.]+, \S+ s after: Pod /);
  const [slowest] = (await sluice('slow', '--limit', '2', '-o', 'json')).split('\n');
  expect(JSON.parse(slowest ?? '')).toMatchObject({ pod: 'cart-2', from: 'ready', to: 'not ready', end: 'written' });
  expect(await sluice('flapping', '--limit', '1')).toMatch(/-\d +\d+ +[0-9:.]+\n/);
});

test('history explains a Pod by its owner and containers, and drain by its preStop hook', async () => {
  await createService(admin, 'pay');
  const pod = podObject({ namespace: 'shop', name: 'pay-1', labels: { app: 'pay' }, nodeName: 'node-1' });
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'pay-5d9', uid: randomUUID(), controller: true };
  const lifecycle = { preStop: { sleep: { seconds: 5 } } };
  const [container = {}] = listAt(pod.spec, 'containers').filter(isObject);
  await admin.create('pods', {
    ...pod,
    metadata: { ...objectAt(pod, 'metadata'), ownerReferences: [owner] },
    spec: { ...objectAt(pod, 'spec'), containers: [{ ...container, lifecycle }], terminationGracePeriodSeconds: 20 },
  });
  const terminated = { exitCode: 137, reason: 'OOMKilled' };
  const main = { name: 'main', ready: false, restartCount: 3, image: 'i', imageID: 'i', lastState: { terminated } };
  const crashing = { ...main, state: { waiting: { reason: 'CrashLoopBackOff' } } };
  const identity = { resource: 'pods', namespace: 'shop', name: 'pay-1' } as const;
  await admin.patch(identity, { status: { phase: 'Running', containerStatuses: [crashing] } }, 'status');
  const history = () => sluice('history', 'shop/pay').then((text) => text.replaceAll(/\s+/g, ' '));
  await expect
    .poll(history)
    .toContain('has container main: waiting (CrashLoopBackOff), 3 restarts, last exit code 137 (OOMKilled)');
  expect(await history()).toContain('of ReplicaSet pay-5d9');

  await setReady(admin, 'pay', 1, true);
  await expect.poll(() => isShown('pay-1', true)).toBe(true);
  await kubectl(cluster.adminKubeconfig, ['delete', 'pod', 'pay-1', '-n', 'shop', '--wait=false']);
  await expect.poll(() => sluice('drain', '-n', 'shop')).toMatch(/pay +1 +[0-9.]+ m?s .* sleep 5 s +yes +20 s/);
});

test('it sends nothing but get, list and watch, and is refused nothing', async () => {
  const events = readFileSync(cluster.auditLog ?? '', 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter((event) => event.user.username === user);
  const refused = events.filter(({ responseStatus }) => responseStatus?.code === 403);
  expect(refused.map(({ requestURI }) => requestURI)).toEqual([]);
  expect([...new Set(events.map(({ verb }) => verb))].sort()).toEqual(['get', 'list', 'watch']);
  expect([...new Set(events.map(({ userAgent }) => userAgent))]).toEqual([
    expect.stringMatching(/^sluice\/\S+ \(\S+\) observer$/),
  ]);
});

test('a killed observer continues its recording, and says when it did not run', async () => {
  const client = new ConsoleClient({ url });
  // A read writes what was received before it.
  const before = await historyOf(client, 'cart');
  expect(before.length).toBeGreaterThan(50);
  observer.kill('SIGKILL');
  await once(observer, 'close');
  await setReady(admin, 'cart', 2, false);
  await startObserver();
  await setReady(admin, 'cart', 1, true);
  await expect.poll(() => sluice('explain', 'shop/cart', '--pod', 'cart-1')).toContain('cart-1: ready');

  const after = await historyOf(client, 'cart');
  expect(after.slice(0, before.length)).toEqual(before);
  const history = await sluice('history', 'shop/cart');
  expect(history).toMatch(/^Nothing was recorded from [0-9:.]+ to [0-9:.]+\./);
  // What changed meanwhile is found at the start.
  expect(history).toContain('Pod cart-2 became not ready');
  const [flip] = before.filter(({ kind }) => kind === 'observed').slice(-20);
  const [summary] = (await client.services({ q: 'cart' })).items;
  if (flip === undefined || summary === undefined) return expect.unreachable();
  const past = await client.service({ ...summary, service: summary.name }, Math.ceil(flip.at));
  expect(past.live).toBe(false);
  expect(past.pods).toHaveLength(pods);
});

test('it stops on SIGTERM with status 0', async () => {
  const ended = new Promise((resolve) => observer.once('close', resolve));
  observer.kill('SIGTERM');
  expect(await ended).toBe(0);
});

test('its recording can be opened without the cluster', async () => {
  await cluster.stop();
  const before = output.length;
  observer = spawn(program, ['open', join(root, 'recording'), '--metrics-bind-address', new URL(url).host]);
  collectOutput();
  await until('the recording is open', async () => output.slice(before).includes('Console:'));
  expect(output.slice(before)).toContain('Services of sluice-observer@prod, from ');
  expect(await sluice('history', 'shop/cart')).toContain('because: Pod shop/cart-1 became not ready');
  expect(await sluice('explain', 'shop/cart')).toContain('(the recording ends)');
});
