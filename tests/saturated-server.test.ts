import { FakeApiServer, FakeClient, type Population, populate } from '@sluice/fake-apiserver';
import { chainWriter } from '@sluice/kubernetes';
import type { EndpointSlice } from '@sluice/model';
import { type Clock, seededRandom, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { AdaptiveLimit } from '@sluice/writer';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { differencesFromExpected } from './harness/converged.ts';
import { type Fleet, startFleet } from './harness/fleet.ts';

/**
 * An API server with two processors. At 200 Pod changes per second, each in another Service, and a write of a slice and of
 * Endpoints for each, it would need 2.8. To repeat one seed: `SEED=17 npx vitest run --project unit
 * tests/saturated-server.test.ts`.
 */
const seeds = process.env.SEED === undefined ? [1] : [Number(process.env.SEED)];
const processors = 2;
const costMs = { pods: 4.2, endpointslices: 5, endpoints: 4.6 };
const shape = { services: 100, podsPerService: 4 };
const seconds = 6;

/** Runs work in order of arrival, as much at a time as it has processors. */
class Processors {
  readonly #clock: Clock;
  readonly #freeAt = Array.from({ length: processors }, () => 0);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  work(ms: number): Promise<void> {
    const first = this.#freeAt.indexOf(Math.min(...this.#freeAt));
    const now = this.#clock.monotonic();
    const endsAt = Math.max(now, this.#freeAt[first] ?? now) + ms;
    this.#freeAt[first] = endsAt;
    return new Promise((resolve) => this.#clock.schedule(endsAt - now, resolve));
  }
}

let clock: VirtualClock;
let server: FakeApiServer;
let population: Population;
let machine: Processors;
let writes: { endpointslices: number; endpoints: number };
/** Changes that no slice shows yet, by Pod. */
let pending: Map<string, { readonly ready: boolean; readonly at: number }>;
/** From a change to the write of the slice that shows it, in milliseconds. */
let delays: number[];
let fleet: Fleet | undefined;

beforeEach(() => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  machine = new Processors(clock);
  writes = { endpointslices: 0, endpoints: 0 };
  pending = new Map();
  delays = [];
});

afterEach(async () => {
  const stopped = fleet?.stop();
  // Requests end in virtual time.
  await advance(clock, 10_000);
  await stopped;
  fleet = undefined;
});

async function start(seed: number): Promise<void> {
  server = new FakeApiServer({ clock, random: seededRandom(seed), bookmarkIntervalMs: 0 });
  population = populate(server, shape);
  const limit = new AdaptiveLimit({ max: 64, clock });
  const writer = chainWriter(new FakeClient(server, { clock }), async (request, next) => {
    if (request.verb === 'create' || request.verb === 'update') {
      writes[request.resource]++;
      await machine.work(costMs[request.resource]);
      if (request.resource === 'endpointslices') shown(request.object as EndpointSlice);
    }
    return next(request);
  });
  fleet = startFleet({ server, clock, seed, byReference: true, writable: { writer, limit } });
  await advance(clock, 10_000);
  writes = { endpointslices: 0, endpoints: 0 };
}

function shown({ endpoints }: EndpointSlice): void {
  for (const { targetRef, conditions } of endpoints ?? []) {
    const name = targetRef?.name ?? '';
    const change = pending.get(name);
    if (change === undefined || change.ready !== conditions?.ready) continue;
    delays.push(clock.now() - change.at);
    pending.delete(name);
  }
}

/** Changes the readiness of random Pods. Returns the number of changes. */
async function change(perSecond: number, seed: number): Promise<number> {
  const random = seededRandom(seed + 100);
  const ready = new Map<string, boolean>();
  const changes = perSecond * seconds;
  for (let i = 0; i < changes; i++) {
    const [service, index] = [shape.services, shape.podsPerService].map((count) => Math.floor(random.next() * count));
    if (service === undefined || index === undefined) throw new Error('no Pod');
    const { name } = population.pod(service, index);
    const isReady = !(ready.get(name) ?? true);
    ready.set(name, isReady);
    void machine.work(costMs.pods).then(() => {
      pending.set(name, { ready: isReady, at: clock.now() });
      server.put('pods', population.podObject(service, index, isReady));
    });
    await advance(clock, 1_000 / perSecond);
  }
  return changes;
}

test.each(seeds)('writes of Endpoints give way to those of slices: seed %d', givesWay);

async function givesWay(seed: number): Promise<void> {
  await start(seed);
  const changes = await change(200, seed);
  const { endpointslices, endpoints } = writes;
  expect(endpoints).toBeLessThan(endpointslices * 0.6);
  expect(endpointslices).toBeGreaterThan(changes * 0.8);
  // In virtual time. Without a cooldown for saturation it is above 400 ms.
  expect(delays.toSorted((a, b) => a - b)[delays.length >> 1]).toBeLessThan(250);
  await advance(clock, 5_000);
  expect(differencesFromExpected(server)).toEqual([]);
}

test.each(seeds)('with spare capacity, each change is written to both at once: seed %d', writesBoth);

async function writesBoth(seed: number): Promise<void> {
  await start(seed);
  const changes = await change(50, seed);
  await advance(clock, 100);
  expect(writes.endpoints).toBeGreaterThan(changes * 0.95);
  expect(writes.endpointslices).toBe(writes.endpoints);
  expect(differencesFromExpected(server)).toEqual([]);
}
