import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kubeconfigText } from '@sluice/clusters/testing';
import { SluiceProcess } from '@sluice/conformance';
import { ApiServerHttp, FakeApiServer, FaultPlan, type FaultyRequest, populate } from '@sluice/fake-apiserver';
import { systemClock } from '@sluice/process';
import { seededRandom } from '@sluice/runtime';
import { afterEach, beforeEach, expect, test } from 'vitest';

/** A process with `--max-retries-per-second`, and an API server over HTTP that refuses the creation of slices. */

const shape = { services: 40, podsPerService: 2, nodes: 3 };
const perSecond = 2;
const burst = 10 * perSecond;

/** Counts the requests that create slices, and compares them with the limit at each one. */
class CountedFaults extends FaultPlan {
  creates = 0;
  /** Of them, those that follow a change and are therefore no retries. */
  decided = 0;
  /** Most requests beyond the limit at any time. */
  excess = 0;
  /** Before the process starts, and with it the limit. */
  readonly #startedAt = performance.now();

  /** Requests beyond the first one of each Service. */
  get retries(): number {
    return this.creates - this.decided - shape.services;
  }

  override take(request: FaultyRequest): ReturnType<FaultPlan['take']> {
    if (request.verb === 'create' && request.resource === 'endpointslices') {
      this.creates++;
      const permitted = burst + Math.ceil(((performance.now() - this.#startedAt) / 1000) * perSecond);
      this.excess = Math.max(this.excess, this.retries - permitted);
    }
    return super.take(request);
  }
}

let directory: string;
let server: FakeApiServer;
let population: ReturnType<typeof populate>;
let faults: CountedFaults;
let http: ApiServerHttp;
let sluice: SluiceProcess;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-retry-limit-'));
  server = new FakeApiServer({ clock: systemClock, random: seededRandom(1) });
  population = populate(server, shape);
  faults = new CountedFaults([{ verb: 'create', resource: 'endpointslices', error: 'unavailable' }]);
  http = new ApiServerHttp({ server, clock: systemClock, faults });
  writeFileSync(join(directory, 'kubeconfig'), kubeconfigText({ server: await http.listen() }));
  const limit = ['--max-retries-per-second', String(perSecond)];
  const where = ['--kubeconfig', join(directory, 'kubeconfig'), '--metrics-bind-address', '0'];
  sluice = new SluiceProcess(['--take-over', ...where, ...limit]);
});

afterEach(async () => {
  await sluice.kill();
  await http.close();
  rmSync(directory, { recursive: true, force: true });
});

const poll = { timeout: 90_000, interval: 50 };
const slices = (): number => server.list('endpointslices').items.length;

test('all retries of a cluster together stay within the limit, and every Service is retried (B3)', async () => {
  // The burst is used up, and retries go on.
  await expect.poll(() => faults.retries, poll).toBeGreaterThanOrEqual(burst + 3);
  expect(faults.excess).toBe(0);
  // Endpoints need no retry, so they do not wait for those of slices.
  await expect.poll(() => server.list('endpoints').items.length, poll).toBe(shape.services);

  // A change is decided at once, although the Service waits for its retry.
  const changed = population.services.slice(0, 3).map(({ name }) => name);
  faults.clear();
  faults.decided = changed.length;
  for (const index of changed.keys()) server.put('pods', population.podObject(index, 0, false));
  await expect.poll(() => changed.filter((name) => sliceOf(name) === undefined), poll).toEqual([]);
  // The others wait for their retries, and none is forgotten.
  await expect.poll(slices, { ...poll, timeout: 180_000 }).toBe(shape.services);
  expect(faults.excess).toBe(0);
}, 300_000);

function sliceOf(service: string): unknown {
  const isOf = (labels: Readonly<Record<string, string>> | undefined) =>
    labels?.['kubernetes.io/service-name'] === service;
  return server.list('endpointslices').items.find(({ metadata }) => isOf(metadata.labels));
}
