import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RoleProcess } from '@sluice/demo/distributed';
import {
  ApiServerHttp,
  FakeApiServer,
  FaultPlan,
  kubeconfigOf,
  type Population,
  populate,
} from '@sluice/fake-apiserver';
import { type Jaeger, type Nats, type RedisServer, startJaeger, startNats, startRedis } from '@sluice/local';
import { seededRandom } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { until } from '@sluice/platform/testing';
import type { Role } from '@sluice/sluice';
import { parseScrape, sampleOf } from '@sluice/telemetry/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  findTraces,
  type JaegerTrace,
  linksOf,
  named,
  orphansOf,
  outlineOf,
  tagOf,
  traceOfId,
} from './harness/jaeger-traces.ts';

/** A fleet of processes on real NATS and Redis, and its traces in a real Jaeger. */
const partitions = 4;
const slicesPath = '/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices/{name}';

let directory: string;
let redis: RedisServer;
let nats: Nats;
let jaeger: Jaeger;
let server: FakeApiServer;
let http: ApiServerHttp;
let population: Population;
const faults = new FaultPlan();
const log: string[] = [];
const processes: RoleProcess[] = [];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-traces-'));
  jaeger = await startJaeger({ directory: join(directory, 'jaeger') });
  redis = await startRedis({ directory: join(directory, 'redis') });
  nats = await startNats({ directory: join(directory, 'nats') });
  server = new FakeApiServer({ clock: systemClock, random: seededRandom(1) });
  population = populate(server, { services: 5, podsPerService: 3, now: systemClock.now() });
  http = new ApiServerHttp({ server, clock: systemClock, faults });
  writeFileSync(join(directory, 'kubeconfig.json'), JSON.stringify(kubeconfigOf(await http.listen(), 'c')));
  for (const role of ['watcher', 'reconciler', 'writer'] as const) start(role);
  for (let service = 0; service < 5; service++) await written(service, 3);
});

afterAll(async () => {
  for (const { child } of processes) child.kill('SIGKILL');
  await http?.close();
  await nats?.stop();
  await redis?.stop();
  await jaeger?.stop();
  rmSync(directory, { recursive: true, force: true });
});

function start(role: Role): void {
  const cluster = role === 'reconciler' ? [] : ['--kubeconfig', join(directory, 'kubeconfig.json')];
  const where = ['--bus', nats.url, '--store', redis.url, '--partitions', String(partitions)];
  const traces = ['--otlp-endpoint', jaeger.otlpUrl, '--trace-ratio', '1'];
  // A take-over in the middle of a trace, when a busy machine delays heartbeats, would change its outline.
  const leases = ['--lease-ttl', '30s'];
  const rest = [...leases, '--controllers', 'endpointslice-controller', '--metrics-bind-address', '127.0.0.1:0'];
  const onLine = (from: string, line: string) => log.push(`${from}: ${line}`);
  processes.push(new RoleProcess(role, role, [...where, ...traces, ...rest, ...cluster], onLine));
}

const details = () => log.slice(-40).join('\n');

const nameOf = (service: number): string => population.services[service]?.name ?? '';
const setReady = (service: number, pod: number, ready: boolean) =>
  server.put('pods', population.podObject(service, pod, ready));

interface Slice {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly endpoints: readonly { readonly conditions: { readonly ready: boolean } }[];
}

/** Waits until the slices of the Service have this number of ready endpoints. */
function written(service: number, ready: number): Promise<true> {
  const isWritten = () => {
    const slices = server.list('endpointslices').items as unknown as Slice[];
    const own = slices.filter(({ metadata }) => metadata.labels['kubernetes.io/service-name'] === nameOf(service));
    const count = own.flatMap(({ endpoints }) => endpoints).filter(({ conditions }) => conditions.ready).length;
    return own.length === 1 && count === ready;
  };
  return until(`${nameOf(service)} with ${ready} ready endpoints`, isWritten, details);
}

/** The traces of a Service's Pods received so far. */
async function tracesOfPods(service: number): Promise<readonly JaegerTrace[]> {
  const found = await findTraces(jaeger.queryUrl, 'sluice-watcher', { 'k8s.service.name': nameOf(service) });
  return found.filter((trace) => named(trace, 'watch Pod').length > 0);
}

/** The complete trace of a Service's Pods. */
function traceOfPods(service: number, plans: number): Promise<JaegerTrace> {
  let last: readonly JaegerTrace[] = [];
  const find = async () => {
    last = await tracesOfPods(service);
    const [trace, ...others] = last;
    expect(others).toEqual([]);
    // One for the Change and one for each Outcome. Each process exports its spans independently.
    const isWhole =
      trace !== undefined &&
      named(trace, 'process mutations').length === plans &&
      named(trace, 'process changes').length === 1 + plans;
    return isWhole && trace;
  };
  const found = () => [...last.flatMap(outlineOf), details()].join('\n');
  return until(`a trace of ${nameOf(service)}`, find, found);
}

describe('Jaeger receives', () => {
  test('one complete trace of a change through all services', async () => {
    setReady(0, 0, false);
    await written(0, 2);
    const trace = await traceOfPods(0, 1);
    expect(outlineOf(trace)).toEqual([
      'sluice-watcher: watch Pod',
      '  sluice-watcher: publish changes',
      '    sluice-reconciler: process changes',
      '      sluice-reconciler: decide endpointslice',
      '        sluice-reconciler: commit',
      '        sluice-reconciler: publish mutations',
      '          sluice-writer: process mutations',
      `            sluice-writer: PUT ${slicesPath}`,
      '            sluice-writer: publish changes',
      '              sluice-reconciler: process changes',
    ]);
    expect(orphansOf(trace)).toEqual([]);
    const [watched] = named(trace, 'watch Pod');
    expect(watched && tagOf(watched, 'sluice.cause')).toContain('became not ready');
    const [plan] = named(trace, 'process mutations');
    expect(plan && tagOf(plan, 'messaging.system.name')).toBe('nats');
    expect(plan && tagOf(plan, 'sluice.status')).toBe('applied');
    const [commit] = named(trace, 'commit');
    expect(commit && tagOf(commit, 'db.system.name')).toBe('redis');
    const [request] = named(trace, `PUT ${slicesPath}`);
    expect(request && tagOf(request, 'url.full')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/apis\/.*\/endpointslices\/svc-/);
  });

  test('each request of a retried write with its error', async () => {
    faults.add({ verb: 'update', resource: 'endpointslices', error: 'unavailable', times: 2 });
    setReady(1, 0, false);
    await written(1, 2);
    const trace = await traceOfPods(1, 1);
    const requests = named(trace, `PUT ${slicesPath}`).map((span) => [
      tagOf(span, 'http.response.status_code'),
      tagOf(span, 'http.request.resend_count'),
      tagOf(span, 'error'),
    ]);
    expect(requests).toEqual([
      [503, undefined, true],
      [503, 1, true],
      [200, 2, undefined],
    ]);
  });

  test('links from coalesced changes to the write that contains them', async () => {
    // The first write is repeated until the reconciler has the other changes.
    faults.add({ verb: 'update', resource: 'endpointslices', error: 'unavailable' });
    const received = async (changes: number) =>
      (await tracesOfPods(2)).filter((trace) => named(trace, 'process changes').length > 0).length === changes;
    setReady(2, 0, false);
    await expect.poll(() => received(1)).toBe(true);
    setReady(2, 1, false);
    // Otherwise one Change may contain both.
    await expect.poll(() => received(2)).toBe(true);
    setReady(2, 2, false);
    await expect.poll(() => received(3)).toBe(true);
    faults.clear();
    await written(2, 0);
    // The write of a change, in its own trace or in the linked one.
    const writeOf = async (trace: JaegerTrace): Promise<string | undefined> => {
      if (named(trace, 'process mutations').length > 0) return trace.traceID;
      const carried = trace.spans.find((span) => tagOf(span, 'sluice.coalesced') === true);
      const [link] = carried === undefined ? [] : linksOf(carried);
      const carrier = link && (await traceOfId(jaeger.queryUrl, link.traceID));
      expect(carrier?.spans.some(({ spanID }) => spanID === link?.spanID)).not.toBe(false);
      return carrier && writeOf(carrier);
    };
    const writes = async () => await Promise.all((await tracesOfPods(2)).map(writeOf));
    await expect.poll(writes).toEqual([expect.any(String), expect.any(String), expect.any(String)]);
    // One, or two if the first plan was still retried when the faults ended.
    expect(new Set(await writes()).size).toBeLessThan(3);
  });

  test('no span without its parent', async () => {
    const all = await findTraces(jaeger.queryUrl, 'sluice-watcher', {});
    expect(all.length).toBeGreaterThan(5);
    const orphans = async () => (await findTraces(jaeger.queryUrl, 'sluice-watcher', {})).flatMap(orphansOf);
    await expect.poll(orphans).toEqual([]);
  });
});

test('if Jaeger is down, nothing else is affected, and lost spans are counted', async () => {
  await jaeger.process.kill();
  setReady(3, 0, false);
  await written(3, 2);
  const scrapes = log.flatMap((line) => /metrics=(\S+)/.exec(line)?.[1] ?? []);
  expect(scrapes).toHaveLength(3);
  const dropped = async (url: string): Promise<number> => {
    const scrape = parseScrape(await (await fetch(url)).text());
    return sampleOf(scrape, 'sluice_trace_spans_dropped_total', { reason: 'export_failed' });
  };
  const counts = async () => await Promise.all(scrapes.map(dropped));
  await expect.poll(async () => Math.min(...(await counts()))).toBeGreaterThan(0);
  await jaeger.process.start();
  await jaeger.ready();
  setReady(4, 0, false);
  await written(4, 2);
  expect(orphansOf(await traceOfPods(4, 1))).toEqual([]);
});
