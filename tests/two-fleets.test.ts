import { FakeApiServer, FaultPlan, populate } from '@sluice/fake-apiserver';
import type { RawObject } from '@sluice/kubernetes';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { describe, expect, test } from 'vitest';
import { slicesOf } from './harness/expected-endpoints.ts';
import { startFleet } from './harness/fleet.ts';

/** Fleets that write to one cluster and do not know of each other (ADR 0054). One fleet is the control. */

interface Slice {
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly endpoints?: readonly unknown[] | null;
}

const start = Date.parse('2026-01-01T00:00:00Z');
const seeds = [1, 2, 3, 4, 5, 6];
const services = 10;

function startFleets(count: number, server: FakeApiServer, clock: VirtualClock, seed: number, watchDelayMs?: number) {
  return Array.from({ length: count }, (_, index) => {
    const n = index + 1;
    const latency = (verb?: string) => ({
      ...(verb && { verb }),
      latencyMs: 5 + (verb ? 0 : n),
      probability: verb ? 1 : 0.8,
    });
    const rules = watchDelayMs === undefined ? [latency()] : ['create', 'update', 'delete'].map(latency);
    return startFleet({
      ...{ server, clock, seed: seed * 100 + n, fencingToken: 1_000 + n },
      faults: new FaultPlan(rules as never, seededRandom(seed * 10 + n)),
      ...(watchDelayMs !== undefined && { watchDelayMs }),
    });
  });
}

describe.each([1, 2])('%d fleet(s) on one cluster', (count) => {
  test.each(seeds)('keep every ready endpoint published while slices are deleted, seed %d', async (seed) => {
    const clock = new VirtualClock(start);
    const server = new FakeApiServer({ clock, random: seededRandom(seed), bookmarkIntervalMs: 0 });
    const fleets = startFleets(count, server, clock, seed);
    await advance(clock, 5_000);
    const population = populate(server, { services, podsPerService: 4 });
    const random = seededRandom(seed + 50);
    const slices = () => server.list('endpointslices').items as unknown as readonly Slice[];
    const published = new Set<string>();
    let outages = 0;
    for (let step = 0; step < 3_000; step++) {
      if (step > 500 && step % 20 === 0)
        server.put('pods', population.podObject(Math.floor(random.next() * services), 0, random.next() < 0.5));
      if (step > 500 && step % 300 === 0) {
        // Another Service each time: repeated repairs of one Service are delayed (ADR 0024).
        const service = `svc-${String(step / 300).padStart(5, '0')}`;
        const slice = slices().find(({ metadata }) => metadata.name.startsWith(service));
        if (slice) server.delete('endpointslices', slice.metadata.namespace, slice.metadata.name);
      }
      await advance(clock, 10);
      const { expected, actual } = slicesOf(server);
      const ready = expected.filter((line) => line.endsWith('true'));
      for (const line of published) if (!ready.includes(line)) published.delete(line);
      for (const line of ready) {
        if (actual.includes(line)) published.add(line);
        else if (published.delete(line)) outages++;
      }
    }
    await Promise.all(fleets.map((fleet) => fleet.stop()));
    expect(outages).toBe(0);
  });

  test.each([1, 2])('never remove all slices of a Service that both saw at once, seed %d', async (seed) => {
    const clock = new VirtualClock(start);
    const server = new FakeApiServer({ clock, random: seededRandom(seed), bookmarkIntervalMs: 0 });
    const fleets = startFleets(count, server, clock, seed, 20);
    await advance(clock, 5_000);
    let wasPublished = false;
    let gaps = 0;
    server.onCommit((resource) => {
      if (resource !== 'endpointslices') return;
      const slices = server.list('endpointslices').items as readonly RawObject[] as unknown as readonly Slice[];
      const isPublished = slices.some(({ endpoints }) => (endpoints ?? []).length > 0);
      if (wasPublished && !isPublished) gaps++;
      wasPublished = isPublished;
    });
    const population = populate(server, { services: 1, podsPerService: 4 });
    await advance(clock, 30_000);
    for (let i = 0; i < 20; i++) {
      server.put('pods', population.podObject(0, i % 3, i % 2 === 0));
      await advance(clock, 3_000);
    }
    await Promise.all(fleets.map((fleet) => fleet.stop()));
    expect(wasPublished).toBe(true);
    expect(gaps).toBe(0);
  });
});
