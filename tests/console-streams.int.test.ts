import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get as httpGet } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SluiceProcess } from '@sluice/conformance';
import { ApiServerHttp, FakeApiServer, type Population, populate } from '@sluice/fake-apiserver';
import { kubeconfigText } from '@sluice/fleet/testing';
import { freePorts } from '@sluice/local';
import { seededRandom } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

/** A user of the machine sends many expensive requests to the console of `sluice run`, and reads the responses or does not. */

const connections = 300;
let directory: string;
let server: FakeApiServer;
let population: Population;
let http: ApiServerHttp;
let sluice: SluiceProcess;
let port: number;
const sockets: Socket[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-console-streams-'));
  server = new FakeApiServer({ clock: systemClock, random: seededRandom(1) });
  population = populate(server, { services: 3, podsPerService: 20, nodes: 2 });
  http = new ApiServerHttp({ server, clock: systemClock });
  const kubeconfig = join(directory, 'kubeconfig.yaml');
  await writeFile(kubeconfig, kubeconfigText({ server: await http.listen() }));
  [port = 0] = await freePorts(1);
  // A backlog for each connection would exhaust it.
  vi.stubEnv('NODE_OPTIONS', '--max-old-space-size=192');
  sluice = await SluiceProcess.start(kubeconfig, ['--metrics-bind-address', `127.0.0.1:${port}`]);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const socket of sockets.splice(0)) socket.destroy();
  await sluice?.kill();
  await http.close();
  await rm(directory, { recursive: true, force: true });
});

const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);

/** Whether all slices have the readiness that the Pod of this Service has. */
function isWritten(service: number, ready: boolean): boolean {
  const name = `svc-${String(service).padStart(5, '0')}`;
  const slices = server.list('endpointslices').items as unknown as readonly Slice[];
  const endpoints = slices
    .filter(({ metadata }) => metadata.labels['kubernetes.io/service-name'] === name)
    .flatMap((slice) => slice.endpoints);
  return endpoints.length === 20 && endpoints.filter(({ conditions }) => !conditions.ready).length === (ready ? 0 : 1);
}

interface Slice {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly endpoints: readonly { readonly conditions: { readonly ready: boolean } }[];
}

async function change(service: number, ready: boolean): Promise<void> {
  server.put('pods', population.podObject(service, 0, ready));
  await expect.poll(() => isWritten(service, ready)).toBe(true);
}

/** A connection that sends a request and reads no response. */
function openUnread(path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port }, () => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`, () => resolve());
    });
    sockets.push(socket.pause().on('error', reject));
  });
}

/** Uses a new connection, as the kubelet does: the server may close a pooled one at that moment. */
function liveness(): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = httpGet({ host: '127.0.0.1', port, path: '/livez', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('error', reject);
  });
}

/** The process answers health checks and writes changes of the Service that is shown, and of another. */
async function isServing(): Promise<void> {
  for (let n = 0; n < 20; n++) {
    expect(await liveness()).toBe(200);
    await change(0, n % 2 === 1);
    await change(1, n % 2 === 1);
  }
  expect(sluice.running).toBe(true);
}

const history = () => `/api/v1/services/${server.identity}/bench-0/svc-00000/history`;

test('health checks answer and endpoints are written while hundreds of streams are not read', async () => {
  for (let n = 0; n < 100; n++) await change(0, n % 2 === 1);
  const stream = `${history()}/stream`;
  expect((await get(history())).status).toBe(200);
  // Fewer than one address may have.
  await Promise.all(Array.from({ length: 100 }, () => openUnread(stream)));
  // All streams that may be open are.
  await expect.poll(async () => statusOf(stream)).toBe(503);
  await isServing();
  expect(await statusOf(stream), 'the streams are still open').toBe(503);
  await Promise.all(Array.from({ length: connections }, () => openUnread(stream)));
  await isServing();
  for (const socket of sockets.splice(0)) socket.destroy();
  await expect.poll(async () => statusOf(stream)).toBe(200);
});

test('expensive requests beyond a limit are refused, and health checks answer and endpoints are written meanwhile', async () => {
  for (let n = 0; n < 100; n++) await change(0, n % 2 === 1);
  const paths = ['/api/v1/services?limit=1000&sort=changed', `${history()}?limit=5000`, '/api/v1/changes?limit=500'];
  const answers = new Map<string, number>();
  const attack = new AbortController();
  const { signal } = attack;
  const attackers = Array.from({ length: connections }, async (_, n) => {
    const path = paths[n % paths.length] ?? '';
    while (!signal.aborted) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal });
      await response.arrayBuffer();
      const answer = [response.status, response.headers.get('retry-after')].join(' ').trim();
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
  });
  const stopped = Promise.allSettled(attackers);
  await expect.poll(() => answers.get('503 1') ?? 0).toBeGreaterThan(0);
  await isServing();
  attack.abort();
  await stopped;
  // A busy machine may have time for none of them.
  expect([...answers.keys()].filter((answer) => answer !== '200')).toEqual(['503 1']);
  // The budget recovers.
  await expect.poll(async () => statusOf(history())).toBe(200);
});

test('responses that are not read are limited, and their memory with them', async () => {
  for (let n = 0; n < 100; n++) await change(0, n % 2 === 1);
  await Promise.all(Array.from({ length: connections }, () => openUnread(`${history()}?limit=5000`)));
  await expect.poll(async () => statusOf(history())).toBe(503);
  await isServing();
  for (const socket of sockets.splice(0)) socket.destroy();
  await expect.poll(async () => statusOf(history())).toBe(200);
});

async function statusOf(path: string): Promise<number> {
  const response = await get(path);
  await response.body?.cancel();
  return response.status;
}
