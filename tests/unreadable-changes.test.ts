import type { Bus, BusRecord, Topic } from '@sluice/bus';
import { FakeApiServer, populate } from '@sluice/fake-apiserver';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Fleet, startFleet } from './harness/fleet.ts';
import { nextMajorVersion, RewritingBus } from './harness/rewriting-bus.ts';

let clock: VirtualClock;
let server: FakeApiServer;
let bus: RewritingBus;
let fleet: Fleet;

beforeEach(() => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  server = new FakeApiServer({ clock, random: seededRandom(1), bookmarkIntervalMs: 0 });
});

afterEach(() => fleet.stop());

function start(rewrite?: (topic: Topic, record: BusRecord) => BusRecord): void {
  const wrapBus = (inner: Bus) => {
    bus = new RewritingBus(inner, clock, rewrite);
    return bus;
  };
  fleet = startFleet({ server, clock, seed: 3, wrapBus });
}

/** Number of Services with an endpoint that is not ready. */
function notReady(): number {
  const slices = server.list('endpointslices').items as unknown as readonly SliceParts[];
  return slices.filter(({ endpoints = [] }) => endpoints.some(({ conditions }) => !conditions.ready)).length;
}

interface SliceParts {
  readonly endpoints?: readonly { readonly conditions: { readonly ready: boolean } }[];
}

test('a slice of an unknown address type is kept and deleted, and its Service stays up to date', async () => {
  const population = populate(server, { services: 4, podsPerService: 3 });
  start();
  await advance(clock, 10_000);
  const before = bus.counts.requests;
  server.put('endpointslices', {
    metadata: {
      name: 'svc-00000-x',
      namespace: 'bench-0',
      labels: {
        'kubernetes.io/service-name': 'svc-00000',
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      },
    },
    addressType: 'SCION',
    endpoints: [],
    ports: [],
  });
  await advance(clock, 10_000);
  server.put('pods', population.podObject(0, 0, false));
  await advance(clock, 10_000);
  expect(bus.counts.requests).toBe(before);
  expect(notReady()).toBe(1);
  expect(server.list('endpointslices').items.map(({ metadata }) => metadata.name)).not.toContain('svc-00000-x');
});

test('a Service with unreadable Changes is resynced with backoff, and immediately by a reader that can decode them', async () => {
  const population = populate(server, { services: 10, podsPerService: 20 });
  let isNewer = true;
  start((topic, record) =>
    isNewer && topic === 'changes' && record.id.startsWith(server.identity) && record.key.endsWith('/svc-00000')
      ? nextMajorVersion(record)
      : record,
  );
  await advance(clock, 10_000);
  const before = { ...bus.counts };
  await advance(clock, 3_600_000);
  expect(bus.counts.requests - before.requests).toBeLessThan(20);
  expect(bus.counts.changes - before.changes).toBeLessThan(20);
  for (let service = 0; service < 10; service++) server.put('pods', population.podObject(service, 0, false));
  await advance(clock, 1_000);
  expect(notReady()).toBe(9);
  isNewer = false;
  await advance(clock, 600_000);
  expect(notReady()).toBe(10);
});
