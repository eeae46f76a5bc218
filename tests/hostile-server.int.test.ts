import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SluiceProcess } from '@sluice/conformance';
import { ApiServerHttp, FakeApiServer, type Population, populate } from '@sluice/fake-apiserver';
import { kubeconfigText } from '@sluice/fleet/testing';
import { encodedWatchEvent, framed } from '@sluice/kubernetes/protobuf/testing';
import { seededRandom } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { endpointDifferences } from './harness/expected-endpoints.ts';
import {
  type Answer,
  HostileServer,
  isOf,
  isWatch,
  protobufField,
  refuseWatchList,
  writeForever,
} from './harness/hostile-server.ts';

/** A process that serves an honest cluster and one whose API server tries to stop it. */

const shape = { services: 5, podsPerService: 2, nodes: 2 };
let directory: string;
let honest: FakeApiServer;
let population: Population;
let http: ApiServerHttp;
/** What the hostile server answers besides its attack. */
let origin: FakeApiServer;
let hostile: HostileServer | undefined;
let sluice: SluiceProcess;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-hostile-'));
  honest = new FakeApiServer({ clock: systemClock, random: seededRandom(1) });
  origin = new FakeApiServer({ clock: systemClock, random: seededRandom(2) });
  population = populate(honest, shape);
  populate(origin, shape);
  http = new ApiServerHttp({ server: honest, clock: systemClock });
  await writeFile(join(directory, 'honest.yaml'), kubeconfigText({ server: await http.listen() }));
  // Small enough to be exhausted in seconds, large enough for the program.
  vi.stubEnv('NODE_OPTIONS', '--max-old-space-size=192');
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await sluice.kill();
  await hostile?.close();
  await http.close();
  await rm(directory, { recursive: true, force: true });
});

/** Starts the hostile server and the process. */
async function start(answer: Answer, ...flags: string[]): Promise<void> {
  hostile = new HostileServer(origin, answer);
  await writeFile(join(directory, 'hostile.yaml'), kubeconfigText({ server: await hostile.listen() }));
  sluice = new SluiceProcess(['--take-over', '--kubeconfig', directory, '--metrics-bind-address', '0', ...flags]);
}

const logged = (text: RegExp) => sluice.until(() => text.test(sluice.stderr), `it logs ${text}`);

/** The process writes what the cluster lacks, also again. `withheld`: a Service that it leaves alone. */
async function isServed(server: FakeApiServer, withheld?: string): Promise<void> {
  const slices = () => server.list('endpointslices').items.filter((slice) => serviceOf(slice) !== withheld);
  const expected = shape.services - (withheld === undefined ? 0 : 1);
  await expect.poll(() => slices().length).toBe(expected);
  server.delete('endpointslices', 'bench-0', String(slices()[0]?.metadata.name));
  await expect.poll(() => slices().length).toBe(expected);
  expect(sluice.running).toBe(true);
}

const serviceOf = ({ metadata: { labels } }: { readonly metadata: { readonly labels?: unknown } }) =>
  (labels as Readonly<Record<string, string>> | undefined)?.['kubernetes.io/service-name'];

let next = 0;
const labels = Object.fromEntries([...Array(50).keys()].map((i) => [`label-${i}`, `${'v'.repeat(50)}${i}`]));
const pod = () => ({
  metadata: { name: `pod-${next++}`, namespace: 'default', uid: `${next}`, resourceVersion: '1', labels },
  spec: { containers: [] },
  status: { phase: 'Running', podIP: '10.1.0.1', podIPs: [{ ip: '10.1.0.1' }] },
});
const pods = '/api/v1/pods';
const slices = '/apis/discovery.k8s.io/v1/endpointslices';

const itemsWithoutEnd: Answer = (request, response) => {
  if (!isOf(request, pods)) return false;
  if (isWatch(request)) return refuseWatchList(response);
  const first = `{"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[${JSON.stringify(pod())}`;
  return writeForever(response, 200, first, () => `,${JSON.stringify(pod())}`);
};

test.each<[string, Answer]>([
  ['items without end', itemsWithoutEnd],
  [
    'pages without end',
    (request, response) => {
      if (!isOf(request, pods)) return false;
      if (isWatch(request)) return refuseWatchList(response);
      const items = Array.from({ length: 500 }, pod);
      const list = { kind: 'PodList', metadata: { resourceVersion: '1', continue: `${next}` }, items };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(list));
      return true;
    },
  ],
  [
    'initial events without end',
    (request, response) => {
      if (!isOf(request, pods)) return false;
      const event = () => `${JSON.stringify({ type: 'ADDED', object: pod() })}\n`;
      return writeForever(response, 200, event(), isWatch(request) ? event : () => ' ');
    },
  ],
])('%s end with an error, and the other cluster is served', async (_, answer) => {
  await start(answer);
  await logged(/the list of pods is too large/);
  await isServed(honest);
});

test('--max-cache-bytes sets the limit', async () => {
  await start(itemsWithoutEnd, '--max-cache-bytes', '8Mi');
  await logged(/the list of pods is too large: the objects of this cluster need more than 8 MiB of memory/);
  await isServed(honest);
});

test('valid objects without end on a watch end with an error, and the other cluster is served', async () => {
  // Higher than that of the list.
  let version = 1000;
  await start((request, response) => {
    if (!isOf(request, pods)) return false;
    if (request.url?.includes('sendInitialEvents')) return refuseWatchList(response);
    if (!isWatch(request)) {
      // Before it resumes a watch, the reflector asks for the current version.
      if (version === 1000) return false;
      const list = { kind: 'PodList', metadata: { resourceVersion: `${version}` }, items: [] };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(list));
      return true;
    }
    const event = () => {
      const { metadata, ...rest } = pod();
      const object = { metadata: { ...metadata, resourceVersion: `${++version}` }, ...rest };
      return `${JSON.stringify({ type: 'ADDED', object })}\n`;
    };
    return writeForever(response, 200, event(), event);
  });
  await logged(/"cluster":"hostile".*the watch of pods sends too much/);
  await isServed(honest);
});

test('a flood of events of one object waits while the other cluster has work, which is done, and is named', async () => {
  // Blocks of events are cheaper to send than to read, so that the flood exceeds its share on a busy machine too.
  const { metadata, ...rest } = population.podObject(0, 0);
  const flood = { metadata: { ...(metadata as object), labels, uid: 'flood', resourceVersion: '#' }, ...rest };
  let version = 1_000;
  const event = (type: string) => {
    const [before = '', after = ''] = JSON.stringify({ type, object: flood }).split('#');
    return () => `${before}${++version}${after}\n`;
  };
  const [added, modified] = [event('ADDED'), event('MODIFIED')];
  const block = () => Array.from({ length: 30 }, modified).join('');
  await start((request, response) => {
    if (!isOf(request, pods) || !isWatch(request)) return false;
    if (request.url?.includes('sendInitialEvents')) return refuseWatchList(response);
    return writeForever(response, 200, added(), block);
  });
  await isServed(honest);
  const named = () => sluice.stderr.split('\n').filter((line) => line.includes('exceeds its share of the event loop'));
  let changes = 0;
  const working = setInterval(() => {
    const [service, round] = [changes % shape.services, Math.floor(changes / shape.services)];
    honest.put('pods', population.podObject(service, 0, round % 2 === 1));
    changes += 1;
  }, 50);
  try {
    await expect.poll(() => named().length).toBeGreaterThan(0);
  } finally {
    clearInterval(working);
  }
  await expect.poll(() => endpointDifferences(honest)).toEqual([]);
  expect(named().filter((line) => !line.includes('"cluster":"hostile"'))).toEqual([]);
  expect(sluice.running).toBe(true);
});

test.each<[string, string, number, RegExp]>([
  ['a response', '/api/v1/namespaces/kube-system', 200, /"cluster":"hostile".*larger than/],
  ['a refusal', pods, 403, /"cluster":"hostile".*"reason":"HTTP403"/],
])('%s without end ends with an error, and the other cluster is served', async (_, path, status, error) => {
  let bytes = 0;
  const text = 'x'.repeat(64 * 1024);
  const count = () => {
    bytes += text.length;
    return text;
  };
  await start((request, response) => isOf(request, path) && writeForever(response, status, '{"kind":"', count));
  await isServed(honest);
  await expect.poll(() => bytes).toBeGreaterThan(text.length);
  await logged(error);
  expect(sluice.running).toBe(true);
});

describe('an object on a watch', () => {
  /** Sends `events` at the first watch of `path` that follows a list. */
  const onWatch = (path: string, type: string, events: () => Iterable<Buffer>): Answer => {
    let sent = false;
    return (request, response) => {
      if (!isOf(request, path) || !isWatch(request)) return false;
      if (request.url?.includes('sendInitialEvents')) return refuseWatchList(response);
      if (sent) return false;
      sent = true;
      response.writeHead(200, { 'content-type': type });
      void sendAll(response, events());
      return true;
    };
  };

  async function sendAll(response: ServerResponse, events: Iterable<Buffer>): Promise<void> {
    for (const event of events) {
      if (!response.write(event)) await new Promise((resolve) => response.once('drain', resolve));
    }
    // The next watch reads from `origin`.
    response.end();
  }

  /** A resourceVersion that `origin` gives to no object of the watched resource. */
  const nextVersion = () => {
    origin.put('namespaces', { metadata: { name: `namespace-${next++}` } });
    return origin.list('namespaces').resourceVersion;
  };

  const protobuf = 'application/vnd.kubernetes.protobuf;stream=watch';
  const metadata = (...fields: readonly Buffer[]) =>
    protobufField(
      1,
      Buffer.concat([
        protobufField(1, 'hostile-pod'),
        protobufField(3, 'bench-0'),
        ...fields,
        protobufField(6, nextVersion()),
      ]),
    );
  const podFrame = (...fields: readonly Buffer[]) => framed(encodedWatchEvent('ADDED', Buffer.concat(fields)));
  /** Containers of two bytes each, which become objects in memory. */
  const containers = (count: number) => protobufField(2, Buffer.alloc(2 * count, Buffer.from([0x12, 0x00])));

  test.each([15_000_000, 4_000_000])('with %i containers is skipped', async (count) => {
    await start(onWatch(pods, protobuf, () => [podFrame(metadata(), containers(count))]));
    await logged(/"resource":"pods".*"skipping malformed object"/);
    await Promise.all([isServed(honest), isServed(origin)]);
  });

  test('with __proto__ as a label, twice, is read like every other Pod', async () => {
    const label = (value: string) =>
      protobufField(11, Buffer.concat([protobufField(1, '__proto__'), protobufField(2, value)]));
    await start(onWatch(pods, protobuf, () => [podFrame(metadata(label('a'), label('b')), protobufField(2, ''))]));
    await Promise.all([isServed(honest), isServed(origin)]);
    expect(sluice.stderr).not.toMatch(/TypeError/);
  });

  test('nested deeply is skipped, and its Service is withheld: a slice beside it would double its endpoints', async () => {
    const nested = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
    const slice = () =>
      JSON.stringify({
        metadata: {
          ...{ name: 'nested', namespace: 'bench-0', uid: 'nested', resourceVersion: nextVersion() },
          labels: {
            'kubernetes.io/service-name': 'svc-00000',
            'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
          },
        },
        ...{ addressType: 'IPv4', endpoints: [{ addresses: ['10.1.0.1'], deep: '-' }], ports: [] },
      }).replace('"-"', nested);
    const added = (object: string) => Buffer.from(`{"type":"ADDED","object":${object}}\n`);
    // With the slices that Sluice has written since its list: the version of the nested one says that it has seen them.
    const events = () => [...origin.list('endpointslices').items.map((item) => JSON.stringify(item)), slice()];
    await start(onWatch(slices, 'application/json', () => events().map(added)));
    await logged(/"resource":"endpointslices".*"skipping malformed object"/);
    await Promise.all([isServed(honest), isServed(origin, 'svc-00000')]);
  });
});
