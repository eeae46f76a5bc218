import { findParked } from '@sluice/console';
import { FakeApiServer, FakeClient, FaultPlan, type Population, populate } from '@sluice/fake-apiserver';
import type { ClusterReader } from '@sluice/kubernetes';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { releaseParked } from '@sluice/sluice';
import { MassChangeGuard } from '@sluice/writer';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { endpointsOf, slicesOf } from './harness/expected-endpoints.ts';
import { type Fleet, startFleet } from './harness/fleet.ts';

/** The mass-addition guard (ADR 0029), from the watch to the write. */

const services = 20;
const podsPerService = 10;
const all = services * podsPerService;
let clock: VirtualClock;
let server: FakeApiServer;
let faults: FaultPlan;
let population: Population;
let fleet: Fleet;
let checked: Record<string, number>;
/** Answers for Pods instead of the server, as long as it is set. */
let impostor: FakeClient | undefined;
let impostorServer: FakeApiServer;

beforeEach(async () => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  faults = new FaultPlan();
  impostor = undefined;
  checked = {};
  server = new FakeApiServer({ clock, random: seededRandom(1), bookmarkIntervalMs: 0 });
  population = populate(server, { services, podsPerService, nodes: 10 });
  const onChecked = (result: string) => {
    checked[result] = (checked[result] ?? 0) + 1;
  };
  const guard = new MassChangeGuard('addition', { percent: 25, clock, onChecked });
  fleet = startFleet({ server, clock, seed: 2, faults, writable: { massChangeGuards: [guard] }, wrapReader });
  await advance(clock, 120_000);
  expect(isRight()).toBe(true);
});

afterEach(() => fleet.stop());

function wrapReader(reader: ClusterReader): ClusterReader {
  const of = (resource: string) => (resource === 'pods' ? (impostor ?? reader) : reader);
  return {
    watchList: false,
    identity: (signal) => reader.identity(signal),
    list: (resource, options, signal) => of(resource).list(resource, options, signal),
    watch: (resource, version, signal, options) => of(resource).watch(resource, version, signal, options),
  };
}

const isRight = (): boolean =>
  [slicesOf, endpointsOf].every((of) => {
    const { expected, actual } = of(server);
    return JSON.stringify(expected) === JSON.stringify(actual);
  });

const parked = () => findParked(fleet.store, fleet.bus.partitions);

/** Pods of the same names, with addresses that `move` makes of theirs. */
async function startImpostor(move: (ip: string) => string): Promise<void> {
  impostorServer = new FakeApiServer({ clock, random: seededRandom(3), bookmarkIntervalMs: 0 });
  populate(impostorServer, { services, podsPerService, nodes: 10 });
  for (const pod of impostorServer.list('pods').items) {
    const { podIP, ...status } = pod.status as { podIP: string };
    impostorServer.put('pods', { ...pod, status: { ...status, podIP: move(podIP), podIPs: [{ ip: move(podIP) }] } });
  }
  impostor = new FakeClient(impostorServer, { clock });
  await relist();
  await advance(clock, 60_000);
}

async function relist(): Promise<void> {
  faults.add({ verb: 'watch', resource: 'pods', error: 'gone', times: 1 });
  server.cutWatches('end');
  await advance(clock, 1_000);
}

/** How many addresses of the cluster's slices begin with `prefix`. */
const written = (prefix: string): number =>
  server
    .list('endpointslices')
    .items.flatMap(({ endpoints }) => endpoints as { addresses: readonly string[] }[])
    .filter(({ addresses }) => addresses[0]?.startsWith(prefix)).length;

describe('an impostor that replaces the addresses of all Pods', () => {
  const move = (ip: string) => ip.replace(/^11\./, '66.');

  test('changes at most a quarter of them', async () => {
    await startImpostor(move);
    expect(checked.refuted).toBeGreaterThan(0);
    const replaced = written('66.');
    expect(replaced).toBeLessThanOrEqual(0.3 * all);
    expect(written('11.') + replaced).toBe(all);
    await advance(clock, 30 * 60_000);
    expect(written('66.')).toBeLessThanOrEqual(0.3 * all);
    expect((await parked()).every(({ reason }) => reason.startsWith('addition held back: '))).toBe(true);
  });

  test('is forgotten when the cluster answers again', async () => {
    await startImpostor(move);
    impostor = undefined;
    impostorServer.cutWatches('end');
    await relist();
    await advance(clock, 180_000);
    expect(isRight()).toBe(true);
    expect(await parked()).toEqual([]);
  });

  test('is obeyed for a Service that a person releases', async () => {
    await startImpostor(move);
    const before = written('66.');
    const [first] = (await parked()).filter(({ controller }) => controller === 'endpointslice');
    if (first === undefined) throw new Error('no addition is held back');
    await releaseParked(fleet.bus, first.key, clock.now(), 'first');
    await advance(clock, 1_000);
    expect(written('66.')).toBe(before + podsPerService);
  });
});

test('nothing is checked while a new cluster fills', () => {
  expect(checked).toEqual({});
});

describe('after at most one check, at once:', () => {
  afterEach(() => {
    expect(isRight()).toBe(true);
    expect(checked).toEqual({ confirmed: checked.confirmed });
    expect(checked.confirmed).toBeGreaterThan(0);
  });

  test('the scale-up of Services to ten times as many Pods', async () => {
    for (let i = 0; i < services; i++)
      for (let j = podsPerService; j < 10 * podsPerService; j++) addPod(i, `${j}`, `12.${i}.${j >> 8}.${j & 255}`);
    await advance(clock, 1_000);
  });

  test('a rolling restart of all Pods', async () => {
    for (let j = 0; j < podsPerService; j++) {
      for (let i = 0; i < services; i++) addPod(i, `new-${j}`, `12.0.${i}.${j}`);
      await advance(clock, 1_000);
      for (let i = 0; i < services; i++) {
        const { namespace, name } = population.pod(i, j);
        server.delete('pods', namespace, name, { gracePeriodSeconds: 0 });
      }
      await advance(clock, 1_000);
    }
  });
});

test('readiness that changes often is not checked', async () => {
  for (let round = 0; round < 10; round++)
    for (const ready of [false, true]) {
      for (let i = 0; i < services; i++) server.put('pods', population.podObject(i, round % podsPerService, ready));
      await advance(clock, 1_000);
    }
  expect(checked).toEqual({});
  expect(isRight()).toBe(true);
});

function addPod(service: number, suffix: string, ip: string): void {
  const { metadata, spec, status } = population.podObject(service, 0) as unknown as Record<
    'metadata' | 'spec' | 'status',
    object
  >;
  const name = `${population.services[service]?.name}-${suffix}`;
  server.put('pods', { metadata: { ...metadata, name }, spec, status: { ...status, podIP: ip, podIPs: [{ ip }] } });
}
