import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kubeconfigText } from '@sluice/clusters/testing';
import { SluiceProcess } from '@sluice/conformance';
import { ApiServerHttp, FakeApiServer, populate } from '@sluice/fake-apiserver';
import { systemClock } from '@sluice/process';
import { seededRandom } from '@sluice/runtime';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

/** A process that serves an honest cluster and one whose API server tries to exhaust its memory. */

let directory: string;
let honest: FakeApiServer;
let http: ApiServerHttp[];
let hostile: Server;
let sluice: SluiceProcess | undefined;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-hostile-'));
  http = [];
  honest = new FakeApiServer({ clock: systemClock, random: seededRandom(1) });
  populate(honest, { services: 5, podsPerService: 2, nodes: 2 });
  await writeFile(join(directory, 'honest.yaml'), kubeconfigText({ server: await serve(honest) }));
  // Small enough to be exhausted in seconds, large enough for the program.
  vi.stubEnv('NODE_OPTIONS', '--max-old-space-size=192');
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await sluice?.kill();
  hostile.closeAllConnections();
  await new Promise((resolve) => hostile.close(resolve));
  for (const server of http) await server.close();
  await rm(directory, { recursive: true, force: true });
});

async function serve(server: FakeApiServer): Promise<string> {
  const served = new ApiServerHttp({ server, clock: systemClock });
  http.push(served);
  return served.listen();
}

/** Answers lists and watches of Pods with `answer`, and everything else as an API server does. */
async function startHostile(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<void> {
  const origin = await serve(new FakeApiServer({ clock: systemClock, random: seededRandom(2) }));
  hostile = createServer((request, response) => {
    if (request.method === 'GET' && request.url?.startsWith('/api/v1/pods')) return answer(request, response);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => void forward(origin, request, Buffer.concat(chunks), response));
  });
  await new Promise<void>((resolve) => hostile.listen(0, '127.0.0.1', resolve));
  const { port } = hostile.address() as AddressInfo;
  await writeFile(join(directory, 'hostile.yaml'), kubeconfigText({ server: `http://127.0.0.1:${port}` }));
}

async function forward(origin: string, { method, url, headers }: IncomingMessage, body: Buffer, to: ServerResponse) {
  const stop = new AbortController();
  to.on('close', () => stop.abort());
  try {
    const response = await fetch(`${origin}${url}`, {
      ...{ method: method ?? 'GET', signal: stop.signal, headers: { accept: headers.accept ?? '' } },
      ...(body.length > 0 && { body, headers: { 'content-type': headers['content-type'] ?? '' } }),
    });
    to.writeHead(response.status, { 'content-type': response.headers.get('content-type') ?? '' });
    for await (const chunk of response.body ?? []) to.write(chunk);
    to.end();
  } catch {
    to.destroy();
  }
}

let next = 0;
const pod = () => ({
  metadata: { name: `pod-${next++}`, namespace: 'default', uid: `${next}`, resourceVersion: '1', labels },
  spec: { containers: [] },
  status: { phase: 'Running', podIP: '10.1.0.1', podIPs: [{ ip: '10.1.0.1' }] },
});
const labels = Object.fromEntries([...Array(50).keys()].map((i) => [`label-${i}`, `${'v'.repeat(50)}${i}`]));

/** Writes as long as the client reads. */
function writeForever(response: ServerResponse, first: string, text: () => string): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write(first);
  const more = () => {
    while (!response.destroyed && response.write(text()));
  };
  response.on('drain', more);
  more();
}

const isWatch = (request: IncomingMessage) => request.url?.includes('watch=1') === true;
const refuseWatch = (response: ServerResponse) => {
  const status = { kind: 'Status', status: 'Failure', reason: 'BadRequest', message: 'no WatchList', code: 400 };
  response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(status));
};

test.each<[string, (request: IncomingMessage, response: ServerResponse) => void]>([
  [
    'items without end',
    (request, response) => {
      if (isWatch(request)) return refuseWatch(response);
      const start = `{"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[${JSON.stringify(pod())}`;
      writeForever(response, start, () => `,${JSON.stringify(pod())}`);
    },
  ],
  [
    'pages without end',
    (request, response) => {
      if (isWatch(request)) return refuseWatch(response);
      const items = Array.from({ length: 500 }, pod);
      const list = { kind: 'PodList', metadata: { resourceVersion: '1', continue: `${next}` }, items };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(list));
    },
  ],
  [
    'initial events without end',
    (request, response) => {
      const event = () => `${JSON.stringify({ type: 'ADDED', object: pod() })}\n`;
      writeForever(response, event(), isWatch(request) ? event : () => ' ');
    },
  ],
])(
  '%s end with an error, and the other cluster is served',
  async (_, answer) => {
    await startHostile(answer);
    const run = new SluiceProcess(['--take-over', '--kubeconfig', directory, '--metrics-bind-address', '0']);
    sluice = run;
    await run.until(() => /the list of pods is too large/.test(run.stderr), 90_000, 'the list is too large');
    await expect.poll(() => honest.list('endpointslices').items.length, { timeout: 30_000 }).toBe(5);
    honest.delete('endpointslices', 'bench-0', String(honest.list('endpointslices').items[0]?.metadata.name));
    await expect.poll(() => honest.list('endpointslices').items.length, { timeout: 30_000 }).toBe(5);
    expect(run.running).toBe(true);
  },
  180_000,
);
