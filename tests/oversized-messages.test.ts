import type { BusLimits } from '@sluice/bus';
import { findParked } from '@sluice/console';
import { FakeApiServer, type Population, populate } from '@sluice/fake-apiserver';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Fleet, type FleetOptions, startFleet } from './harness/fleet.ts';

/** A tenth of what NATS accepts by default. */
const recordBytes = 100_000;
const limits: BusLimits = { recordBytes, messageBytes: 2_000_000 };
const smallServices = 20;
const minuteMs = 60_000;

let clock: VirtualClock;
let server: FakeApiServer;
let small: Population;

beforeEach(() => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  server = new FakeApiServer({ clock, random: seededRandom(1), bookmarkIntervalMs: 0 });
  small = populate(server, { services: smallServices, podsPerService: 2 });
});

const start = (given: Partial<FleetOptions> = {}): Fleet => startFleet({ server, clock, seed: 3, limits, ...given });

const metadata = (name: string, labels = {}) => ({ namespace: 'bench-0', name, labels });

function putService(name: string, selector?: object): void {
  const ports = [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 'http' }];
  const clusterIP = '10.9.9.9';
  server.put('services', {
    metadata: metadata(name, { app: name }),
    spec: {
      type: 'ClusterIP',
      clusterIP,
      clusterIPs: [clusterIP],
      ipFamilies: ['IPv4'],
      ports,
      ...(selector && { selector }),
    },
  });
}

function putLargeService(pods: number): void {
  putService('large', { app: 'large' });
  for (let i = 0; i < pods; i++) {
    const pod = small.podObject(0, 0) as { status: object };
    const ip = `12.0.${i >> 8}.${i & 255}`;
    const status = { ...pod.status, podIP: ip, podIPs: [{ ip }] };
    server.put('pods', { ...pod, metadata: metadata(`large-${i}`, { app: 'large' }), status });
  }
}

function putEndpoints(addresses: number): void {
  const ips = Array.from({ length: addresses }, (_, i) => ({ ip: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}` }));
  const subsets = [{ addresses: ips, ports: [{ name: 'http', port: 80, protocol: 'TCP' }] }];
  server.put('endpoints', { metadata: metadata('mine'), subsets });
}

interface Slice {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly endpoints?: readonly { readonly conditions: { readonly ready?: boolean } }[];
}

function endpointsOf(service: string) {
  const slices = server.list('endpointslices').items as unknown as readonly Slice[];
  return slices
    .filter(({ metadata: { labels } }) => labels['kubernetes.io/service-name'] === service)
    .flatMap(({ endpoints = [] }) => endpoints);
}

/** Makes one Pod of every small Service not ready and returns the Services whose slices do not show it. */
async function staleAfterChange(): Promise<readonly string[]> {
  for (let i = 0; i < smallServices; i++) server.put('pods', small.podObject(i, 0, false));
  await advance(clock, minuteMs);
  const isFresh = (name: string) => {
    const ready = endpointsOf(name).map(({ conditions }) => conditions.ready);
    return ready.length === 2 && ready.includes(false) && ready.includes(true);
  };
  return small.services.map(({ name }) => name).filter((name) => !isFresh(name));
}

const parked = (fleet: Fleet) => findParked(fleet.store, fleet.bus.partitions);

describe('a plan, Change or Outcome larger than a record', () => {
  test('of a large Service is delivered, and small Services are not delayed', async () => {
    putLargeService(1_000);
    const fleet = start();
    await advance(clock, minuteMs);
    expect(endpointsOf('large')).toHaveLength(1_000);
    expect(await staleAfterChange()).toEqual([]);
    await fleet.stop();
  });

  test('is delivered when the watcher starts with slices that together exceed a record', async () => {
    putLargeService(1_000);
    const first = start();
    await advance(clock, minuteMs);
    await first.stop();
    const fleet = start({ seed: 4 });
    await advance(clock, minuteMs);
    expect(await staleAfterChange()).toEqual([]);
    server.put('pods', { ...small.podObject(0, 0), metadata: metadata('large-new', { app: 'large' }) });
    await advance(clock, minuteMs);
    expect(endpointsOf('large')).toHaveLength(1_001);
    await fleet.stop();
  });

  test("of a user's Endpoints is delivered, and the Endpoints are mirrored", async () => {
    putService('mine');
    const fleet = start();
    putEndpoints(5_000);
    await advance(clock, minuteMs);
    expect(await staleAfterChange()).toEqual([]);
    // A subset is mirrored up to 1,000 addresses (H11).
    expect(endpointsOf('mine')).toHaveLength(1_000);
    await fleet.stop();
  });

  test('is delivered when readers are far behind', async () => {
    putLargeService(1_000);
    const fleet = start({ maxBacklog: 3 });
    await advance(clock, minuteMs);
    expect(endpointsOf('large')).toHaveLength(1_000);
    expect(await staleAfterChange()).toEqual([]);
    await fleet.stop();
  });
});

describe('a message that exceeds the limit of the bus parks its Service and delays no other:', () => {
  test('a plan', async () => {
    putLargeService(1_000);
    const fleet = start({ limits: { recordBytes, messageBytes: 200_000 } });
    await advance(clock, minuteMs);
    expect(await parked(fleet)).toMatchObject([
      {
        key: { service: 'large' },
        controller: 'endpointslice',
        reason: expect.stringMatching(/^the plan has \d+ bytes, more than the 200000 that the bus accepts/),
      },
    ]);
    expect(endpointsOf('large')).toEqual([]);
    expect(await staleAfterChange()).toEqual([]);
    await fleet.stop();
  });

  test('an object, until it is smaller', async () => {
    putService('mine');
    const fleet = start({ limits: { recordBytes, messageBytes: 150_000 } });
    putEndpoints(10);
    await advance(clock, minuteMs);
    putEndpoints(10_000);
    await advance(clock, minuteMs);
    const reason = expect.stringMatching(/^endpoints has \d+ bytes, more than the 150000 that the bus accepts$/);
    expect((await parked(fleet)).map(({ key, reason }) => [key.service, reason])).toContainEqual(['mine', reason]);
    // The earlier slices stay.
    expect(endpointsOf('mine')).toHaveLength(10);
    expect(await staleAfterChange()).toEqual([]);
    putEndpoints(20);
    await advance(clock, minuteMs);
    expect(await parked(fleet)).toEqual([]);
    expect(endpointsOf('mine')).toHaveLength(20);
    await fleet.stop();
  });

  test('an object that exists when the watcher starts', async () => {
    putService('mine');
    putEndpoints(10_000);
    const fleet = start({ limits: { recordBytes, messageBytes: 150_000 } });
    await advance(clock, minuteMs);
    expect((await parked(fleet)).map(({ key }) => key.service)).toContain('mine');
    expect(endpointsOf('mine')).toEqual([]);
    expect(await staleAfterChange()).toEqual([]);
    await fleet.stop();
  });
});
