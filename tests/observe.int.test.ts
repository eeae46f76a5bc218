import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ApiClient } from '@sluice/conformance';
import { ConsoleClient, type HistoryEntry } from '@sluice/console/client';
import { type ControlPlane, freePorts, kubectl, startControlPlane, startKubeControllerManager } from '@sluice/local';
import { randomInteger, seededRandom } from '@sluice/platform';
import { until } from '@sluice/platform/testing';
import { listAt, objectAt, textAt } from '@sluice/shadow';
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
let admin: ApiClient;
let url: string;
let observer: ChildProcess;
let output = '';

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'sluice-observe-'));
  const options = { name: 'prod', authorization: 'RBAC', grantSluice: false, audit: 'Metadata' } as const;
  cluster = await startControlPlane({ ...options, directory: join(root, 'prod') });
  await kubectl(cluster.adminKubeconfig, ['apply', '-f', manifests]);
  await startKubeControllerManager(cluster, { serviceAccountCredentials: true });
  admin = await ApiClient.open(cluster.adminKubeconfig);
  await createNamespace(admin);
  for (const service of services) await createService(admin, service);

  const [port = 0] = await freePorts(1);
  url = `http://127.0.0.1:${port}`;
  const kubeconfig = cluster.kubeconfigs['sluice-observer'];
  observer = spawn(program, ['observe', '--kubeconfig', kubeconfig, '--metrics-bind-address', `127.0.0.1:${port}`]);
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

async function sluice(...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)(program, [...args, '--console', url])).stdout;
}

interface Flip {
  readonly pod: string;
  readonly ready: boolean;
  /** Before the request. */
  readonly at: number;
}

/** Whether the slices show the Pod with this readiness. */
async function isShown(pod: string, ready: boolean): Promise<boolean> {
  const endpoints = (await admin.list('endpointslices')).flatMap((slice) => listAt(slice, 'endpoints'));
  const endpoint = endpoints.find((one) => textAt(objectAt(one, 'targetRef'), 'name') === pod);
  return objectAt(endpoint, 'conditions').ready === ready;
}

/**
 * Changes the readiness of random Pods, and says when. A Pod changes again only once its slice shows the last change, so that
 * each has one cause; several Pods change meanwhile.
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
    const flip = { pod, ready: !former, at: Date.now() };
    ready.set(pod, flip.ready);
    await setReady(admin, service, number, flip.ready);
    flips.push(flip);
  }
  return flips;
}

const historyOf = async (client: ConsoleClient, service: string): Promise<readonly HistoryEntry[]> => {
  const { items: found } = await client.services({ q: service });
  const [summary] = found;
  if (summary === undefined) return [];
  return (await client.history({ ...summary, service: summary.name }, { limit: 5_000 })).entries;
};

/** The updates of slices, and when they arrived. */
const writesOf = (entries: readonly HistoryEntry[]) =>
  entries.flatMap((entry) =>
    entry.kind !== 'observed'
      ? []
      : entry.observations.flatMap(({ of, write }) =>
          of === 'slice' && write?.verb === 'update' ? [{ at: entry.at, write }] : [],
        ),
  );

/** Whether the history says that the Pod became ready, or not ready, at or after this time and before its next change. */
function isObserved(entries: readonly HistoryEntry[], flip: Flip, until: number): boolean {
  const text = flip.ready ? 'became ready' : 'became not ready';
  return entries.some(
    (entry) =>
      entry.kind === 'observed' &&
      entry.at >= flip.at &&
      entry.at < until &&
      entry.observations.some((one) => one.of === 'pod' && one.name === flip.pod && one.text.startsWith(text)),
  );
}

test('each write of kube-controller-manager has the flips that caused it, by the log of the test', async () => {
  for (const service of services)
    for (let number = 1; number <= pods; number++) await createPod(admin, service, number);
  const client = new ConsoleClient({ url });
  const isReady = async () => {
    const { items: found } = await client.services({});
    return found.filter(({ namespace }) => namespace === 'shop').map(({ ready }) => ready);
  };
  await expect.poll(isReady).toEqual([pods, pods]);
  const since = Date.now();
  const flips = await flipPods(200, 1);
  const last = new Map(flips.map(({ pod, ready }) => [pod, ready]));
  for (const service of services) {
    const wanted = Array.from({ length: pods }, (_, i) => last.get(`${service}-${i + 1}`) ?? true).filter(Boolean);
    await expect.poll(async () => (await client.services({ q: service })).items[0]?.ready).toBe(wanted.length);
  }

  const wrong: unknown[] = [];
  let count = 0;
  for (const service of services) {
    const entries = await historyOf(client, service);
    for (const { at, write } of writesOf(entries)) {
      if (at < since) continue;
      for (const { pod, after } of write.endpoints) {
        count++;
        const isCause = (flip: Flip) => flip.pod === pod && flip.ready === after?.ready && flip.at <= at;
        const flip = flips.findLast(isCause);
        const cause = write.causes.first.find(({ description }) => description.startsWith(`Pod shop/${pod} `));
        const next = flips.find((one) => one.pod === pod && flip !== undefined && one.at > flip.at)?.at ?? Date.now();
        // Of two events in one batch, the history has only the last state of the Pod.
        if (flip !== undefined && write.inferredFrom === null && !isObserved(entries, flip, next)) continue;
        const isRight = flip !== undefined && cause !== undefined && cause.observedAt >= flip.at;
        if (!isRight || write.inferredFrom !== 'content' || write.manager !== manager) wrong.push({ flip, write });
      }
    }
  }
  expect(count).toBeGreaterThan(100);
  expect(wrong).toEqual([]);
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

test('it stops on SIGTERM with status 0', async () => {
  const ended = new Promise((resolve) => observer.once('close', resolve));
  observer.kill('SIGTERM');
  expect(await ended).toBe(0);
});
