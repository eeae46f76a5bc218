import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SluiceProcess } from '@sluice/conformance';
import { ApiServerHttp, FakeApiServer, FaultPlan, type FaultyRequest, populate } from '@sluice/fake-apiserver';
import { kubeconfigText } from '@sluice/fleet/testing';
import { freePorts } from '@sluice/local';
import { seededRandom } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { afterEach, beforeEach, expect, test } from 'vitest';

/** Limits of a real process on an API server over HTTP, which notes when slices are created. */

const shape = { services: 40, podsPerService: 2, nodes: 3 };

class NotedFaults extends FaultPlan {
  /** When each request that creates a slice arrived, in milliseconds since the process was started. */
  readonly creates: number[] = [];
  readonly #startedAt = performance.now();

  override take(request: FaultyRequest): ReturnType<FaultPlan['take']> {
    if (request.verb === 'create' && request.resource === 'endpointslices')
      // biome-ignore lint/plugin: requests of a busy machine arrive later, never earlier, and only early ones exceed a limit
      this.creates.push(performance.now() - this.#startedAt);
    return super.take(request);
  }
}

let directory: string;
let server: FakeApiServer;
let population: ReturnType<typeof populate>;
let faults: NotedFaults;
let http: ApiServerHttp;
let sluice: SluiceProcess;
let metricsUrl: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-write-limits-'));
  server = new FakeApiServer({ clock: systemClock, random: seededRandom(1) });
  population = populate(server, shape);
  faults = new NotedFaults();
  http = new ApiServerHttp({ server, clock: systemClock, faults });
});

afterEach(async () => {
  await sluice.kill();
  await http.close();
  rmSync(directory, { recursive: true, force: true });
});

async function start(...limits: string[]): Promise<void> {
  const kubeconfig = join(directory, 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigText({ server: await http.listen() }));
  const [port] = await freePorts(1);
  metricsUrl = `http://127.0.0.1:${port}/metrics`;
  const where = ['--kubeconfig', kubeconfig, '--metrics-bind-address', `127.0.0.1:${port}`];
  sluice = new SluiceProcess(['--take-over', ...where, ...limits]);
}

const slices = (): number => server.list('endpointslices').items.length;

function hasSlice(service: string): boolean {
  const isOf = (labels: Readonly<Record<string, string>> | undefined) =>
    labels?.['kubernetes.io/service-name'] === service;
  return server.list('endpointslices').items.some(({ metadata }) => isOf(metadata.labels));
}

test('--max-retries-per-second bounds the retries of all Services together, and each is retried (B3)', async () => {
  const perSecond = 2;
  const burst = 10 * perSecond;
  faults.add({ verb: 'create', resource: 'endpointslices', error: 'unavailable' });
  await start('--max-retries-per-second', String(perSecond));
  const retries = () => faults.creates.length - shape.services;
  // The burst is used up, and retries continue.
  await expect.poll(retries).toBeGreaterThanOrEqual(burst + 3);
  // Endpoints need no retry, so they do not wait for those of slices.
  await expect.poll(() => server.list('endpoints').items.length).toBe(shape.services);
  expect(await (await fetch(metricsUrl)).text()).toMatch(/^sluice_write_retries_delayed_total [1-9]/m);

  // A change is decided at once, although the Service waits for its retry.
  const changed = population.services.slice(0, 3).map(({ name }) => name);
  faults.clear();
  for (const index of changed.keys()) server.put('pods', population.podObject(index, 0, false));
  await expect.poll(() => changed.filter((name) => !hasSlice(name))).toEqual([]);
  // The others wait for their retries, and none is forgotten.
  await expect.poll(slices).toBe(shape.services);

  const first = shape.services + changed.length;
  const excess = faults.creates.map((at, i) => i + 1 - first - burst - Math.ceil((at / 1000) * perSecond));
  expect(Math.max(...excess)).toBeLessThanOrEqual(0);
});

test('--concurrent-service-endpoint-syncs bounds the concurrent requests of its controller (A5)', async () => {
  const limit = 2;
  const latencyMs = 300;
  faults.add({ verb: 'create', resource: 'endpointslices', latencyMs });
  await start('--concurrent-service-endpoint-syncs', String(limit));
  await expect.poll(slices).toBe(shape.services);
  // A request is not answered earlier, so any `limit + 1` requests are at least that far apart. Timers may be a little early.
  const spans = faults.creates.slice(limit).map((at, i) => at - (faults.creates[i] ?? at));
  expect(Math.min(...spans)).toBeGreaterThanOrEqual(latencyMs - 10);
});
