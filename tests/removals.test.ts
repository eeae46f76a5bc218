import { findParked, type ParkedKey } from '@sluice/console';
import { FakeApiServer, FaultPlan, type Population, populate } from '@sluice/fake-apiserver';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { releaseParked } from '@sluice/sluice';
import { MassChangeGuard } from '@sluice/writer';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { endpointsOf, slicesOf } from './harness/expected-endpoints.ts';
import { type Fleet, startFleet } from './harness/fleet.ts';

/** The mass-removal guard (ADR 0029), from the watch to the write. */

const services = 20;
const podsPerService = 10;
let clock: VirtualClock;
let server: FakeApiServer;
let faults: FaultPlan;
let population: Population;
let fleet: Fleet;
let checked: Record<string, number>;

beforeEach(async () => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  faults = new FaultPlan();
  server = new FakeApiServer({ clock, random: seededRandom(1), bookmarkIntervalMs: 0 });
  population = populate(server, { services, podsPerService, nodes: 10 });
  await start();
  // The initial writes must be older than the guard's window of a minute.
  await advance(clock, 120_000);
  expect(isRight()).toBe(true);
});

afterEach(() => fleet.stop());

async function start(): Promise<void> {
  checked = {};
  const onChecked = (result: string) => {
    checked[result] = (checked[result] ?? 0) + 1;
  };
  const guard = new MassChangeGuard('removal', { percent: 25, clock, onChecked });
  fleet = startFleet({ server, clock, seed: 2, faults, writable: { massChangeGuards: [guard] } });
  await advance(clock, 5_000);
}

const isRight = (): boolean =>
  [slicesOf, endpointsOf].every((of) => {
    const { expected, actual } = of(server);
    return JSON.stringify(expected) === JSON.stringify(actual);
  });

/** The lower count of slices and Endpoints. */
const readyLeft = (): number =>
  Math.min(...[slicesOf, endpointsOf].map((of) => of(server).actual.filter((line) => line.endsWith(' true')).length));

const all = services * podsPerService;
const parked = () => findParked(fleet.store, fleet.bus.partitions);

/** Ends the watch of a resource, and returns empty lists for it. */
async function listEmpty(...resources: string[]): Promise<void> {
  for (const resource of resources) {
    faults.add({ verb: 'list', resource, error: 'empty' });
    faults.add({ verb: 'watch', resource, error: 'gone', times: 1 });
  }
  server.cutWatches('end');
  await advance(clock, 60_000);
}

/** Returns correct lists again and forces a relist. */
async function recover(...resources: string[]): Promise<void> {
  faults.clear();
  for (const resource of resources) faults.add({ verb: 'watch', resource, error: 'gone', times: 1 });
  server.cutWatches('end');
  await advance(clock, 30_000);
}

describe('an incorrectly empty list', () => {
  test.each(['pods', 'services', 'nodes'])('of %s does not empty the cluster', async (resource) => {
    await listEmpty(resource);
    expect(checked.refuted).toBeGreaterThan(0);
    // The guard allows a quarter.
    expect(readyLeft()).toBeGreaterThanOrEqual(0.7 * all);
    await advance(clock, 30 * 60_000);
    expect(readyLeft()).toBeGreaterThanOrEqual(0.7 * all);
    expect((await parked()).every(({ reason }) => reason.startsWith('removal held back: '))).toBe(true);
    await recover(resource);
    expect(isRight()).toBe(true);
    expect(await parked()).toEqual([]);
  });

  test('at startup does not empty the cluster', async () => {
    await fleet.stop();
    faults.add({ verb: 'list', resource: 'pods', error: 'empty' });
    await start();
    await advance(clock, 10 * 60_000);
    expect(checked.refuted).toBeGreaterThan(0);
    expect(readyLeft()).toBeGreaterThanOrEqual(0.7 * all);
    await recover('pods');
    expect(isRight()).toBe(true);
  });

  test('is held back as long as Pods cannot be read', async () => {
    faults.add({ verb: 'get', resource: 'pods', error: 'forbidden' });
    await listEmpty('pods');
    expect(checked).toEqual({ unknown: checked.unknown });
    expect(readyLeft()).toBeGreaterThanOrEqual(0.7 * all);
  });
});

test('a released removal is applied, and no other', async () => {
  await listEmpty('pods');
  const held = await parked();
  const [first] = held;
  if (first === undefined) throw new Error('no removal is held back');
  await releaseParked(fleet.bus, first.key, clock.now(), 'first');
  await advance(clock, 1_000);
  const isOf = ({ key: { service } }: ParkedKey) => service === first.key.service;
  expect((await parked()).filter(isOf)).toEqual([]);
  expect((await parked()).length).toBeGreaterThanOrEqual(held.length - 2);
  expect(slicesOf(server).actual.filter((line) => line.startsWith(`${first.key.service} `))).toEqual([]);
});

describe('applies immediately', () => {
  test('the loss of a Node with a tenth of all Pods, without a check', async () => {
    for (let i = 0; i < services; i++)
      for (let j = 0; j < podsPerService; j++)
        if ((i * podsPerService + j) % 10 === 3) server.put('pods', population.podObject(i, j, false));
    await advance(clock, 1_000);
    expect(isRight()).toBe(true);
    expect(checked).toEqual({});
  });

  test('scaling half of all Services to zero, after a check', async () => {
    for (let i = 0; i < services / 2; i++) removePods(i);
    await advance(clock, 1_000);
    expect(isRight()).toBe(true);
    expect(checked).toEqual({ confirmed: checked.confirmed });
  });

  test('the removal of a Service with most of the endpoints', async () => {
    for (let i = 1; i < services; i++) removePods(i, 1);
    await advance(clock, 120_000);
    checked = {};
    removePods(0);
    await advance(clock, 1_000);
    expect(isRight()).toBe(true);
    expect(checked.refuted).toBeUndefined();
  });

  test('the deletion of a namespace with everything', async () => {
    server.delete('namespaces', '', 'bench-0');
    for (let i = 0; i < services; i++) removePods(i);
    for (const { namespace, name } of population.services) server.delete('services', namespace, name);
    await advance(clock, 30_000);
    expect(server.list('endpoints').items).toEqual([]);
    expect(checked.refuted).toBeUndefined();
  });

  test('frequent readiness changes, without a check', async () => {
    for (let round = 0; round < 20; round++) {
      for (let i = 0; i < services; i++) server.put('pods', population.podObject(i, round % podsPerService, false));
      await advance(clock, 1_000);
      for (let i = 0; i < services; i++) server.put('pods', population.podObject(i, round % podsPerService, true));
      await advance(clock, 1_000);
    }
    expect(checked).toEqual({});
    expect(isRight()).toBe(true);
  });
});

function removePods(service: number, from = 0): void {
  for (let j = from; j < podsPerService; j++) {
    const { namespace, name } = population.pod(service, j);
    server.delete('pods', namespace, name, { gracePeriodSeconds: 0 });
  }
}
