import { MemoryBus } from '@sluice/bus';
import { FakeApiServer, FakeClient, type Population, populate } from '@sluice/fake-apiserver';
import type { ConnectedCluster, EarlyConnections } from '@sluice/fleet/clusters';
import { resolve } from '@sluice/fleet/configuration/testing';
import { LeaseServer } from '@sluice/fleet/testing';
import { type ClusterAccess, chainReader, chainWriter } from '@sluice/kubernetes';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { type RunningRole, startRole } from '@sluice/sluice';
import { MemoryClusterDirectory, MemoryDeadLetters, MemoryLeases, MemoryStore } from '@sluice/store';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { endpointDifferences } from './harness/expected-endpoints.ts';
import { SeveredLink, type Severing, SilentBus } from './harness/severed-link.ts';

/** What one worker alone does not reach, the other one does for it (ADR 0081). */
const [services, podsPerService, partitions] = [12, 3, 8];

/** From the loss to the end of the take-over, in milliseconds. */
const takeOverWithinMs = 5_000;

let clock: VirtualClock;
let servers: ReadonlyMap<string, FakeApiServer>;
/** Claims of the clusters. */
let claims: ReadonlyMap<string, LeaseServer>;
let population: Population;
let leases: MemoryLeases;
let bus: MemoryBus;
let infrastructure: object;
const running = new Map<Worker, RunningRole>();

interface Worker {
  readonly name: string;
  /** By cluster. */
  readonly links: ReadonlyMap<string, SeveredLink>;
  readonly bus: SilentBus;
}

beforeEach(() => {
  clock = new VirtualClock(Date.UTC(2026, 0, 1));
  servers = new Map(
    ['east', 'west'].map((name, i) => [name, new FakeApiServer({ clock, random: seededRandom(i + 1) })]),
  );
  claims = new Map([...servers.keys()].map((name) => [name, new LeaseServer(() => clock.now())]));
  for (const server of servers.values()) population = populate(server, { services, podsPerService, now: clock.now() });
  leases = new MemoryLeases(clock);
  bus = new MemoryBus({ partitions });
  infrastructure = {
    ...{ store: new MemoryStore(), leases, deadLetters: new MemoryDeadLetters() },
    directory: new MemoryClusterDirectory(),
  };
});

afterEach(async () => {
  for (const { links, bus } of running.keys()) {
    for (const link of links.values()) link.heal();
    bus.recover();
  }
  const stopped = Promise.all([...running.values()].map((role) => role.stop(1_000)));
  await advance(clock, 60_000);
  await stopped;
  running.clear();
});

function connectionsOf({ links }: Worker): EarlyConnections {
  const candidates = [...servers.keys()].map((name) => ({
    ...{ name, from: name, fingerprint: '', load: async () => ({ name }) as unknown as ClusterAccess },
  }));
  const open = async (_access: ClusterAccess, signal: AbortSignal, name: string): Promise<ConnectedCluster> => {
    const [server, link, claim] = [servers.get(name), links.get(name), claims.get(name)];
    if (server === undefined || link === undefined || claim === undefined) throw new Error(`no cluster ${name}`);
    const reader = chainReader(new FakeClient(server, { clock }), link.middleware);
    const writer = chainWriter(new FakeClient(server, { clock }), link.middleware);
    return {
      ...{ name, identity: await reader.identity(signal), server: `https://${name}`, version: '', record: () => {} },
      ...{ reader, writer, connection: link.connection(claim), close: async () => {} },
    };
  };
  const sources = [{ about: 'a directory', read: async () => ({ candidates, problems: [] }) }];
  return { sources, open } as unknown as EarlyConnections;
}

function start(name: string, severed: readonly string[] = []): Worker {
  const links = new Map([...servers.keys()].map((cluster) => [cluster, new SeveredLink()]));
  for (const cluster of severed) links.get(cluster)?.sever('refuse');
  const worker = { name, links, bus: new SilentBus(bus) };
  const flags = { '--kubeconfig': 'unused', '--metrics-bind-address': '0', '--take-over': 'true' };
  const { configuration } = resolve({ flags });
  running.set(
    worker,
    startRole({
      ...{ role: 'worker', member: name, configuration, environment: {}, connections: connectionsOf(worker) },
      infrastructure: { ...infrastructure, bus: worker.bus } as never,
      ...{ clock, random: seededRandom(name.length), logger: silentLogger },
    }),
  );
  return worker;
}

function change(isReady: boolean): void {
  for (const server of servers.values())
    for (let service = 0; service < services; service++)
      for (let pod = 0; pod < podsPerService; pod++) server.put('pods', population.podObject(service, pod, isReady));
}

const differences = () => [...servers.values()].flatMap((server) => endpointDifferences(server));

/** Scopes of each group that the worker holds. */
async function held({ name }: Worker) {
  const of = async (group: string) => (await leases.state(group)).leases.filter(({ holder }) => holder === name).length;
  return { watcher: await of('watcher'), reconciler: await of('reconciler'), writer: await of('writer') };
}

/** How long it takes until the condition holds, in milliseconds. */
async function until(condition: () => boolean | Promise<boolean>): Promise<number> {
  const since = clock.now();
  while (!(await condition())) {
    await advance(clock, 50);
    if (clock.now() - since > 30_000) expect.fail('not within 30 s');
  }
  return clock.now() - since;
}

async function twoWorkers(): Promise<readonly [Worker, Worker]> {
  const first = start('first');
  await advance(clock, 10_000);
  const second = start('second');
  await advance(clock, 20_000);
  expect(differences()).toEqual([]);
  expect(await held(first)).toEqual({ watcher: 1, reconciler: 4, writer: 4 });
  expect(await held(second)).toEqual({ watcher: 1, reconciler: 4, writer: 4 });
  return [first, second];
}

describe.each(['refuse', 'swallow'] as const)('a worker alone without an API server (%s)', (how: Severing) => {
  test.each([0, 130, 260, 390, 520])(
    'leaves its scopes to the other one within 5 s, cut at +%i ms',
    async (offsetMs) => {
      const [first, second] = await twoWorkers();
      await advance(clock, offsetMs);
      for (const link of first.links.values()) link.sever(how);
      change(false);
      const lost = await until(async () => {
        const { watcher, writer } = await held(second);
        return watcher === 2 && writer === partitions;
      });
      expect(lost).toBeLessThanOrEqual(takeOverWithinMs);
      expect(await held(first), 'a reconciler needs no API server').toMatchObject({ reconciler: 4 });
      // Writes that have failed several times by now are backing off.
      await advance(clock, 30_000);
      expect(differences()).toEqual([]);
    },
  );

  test('gets scopes back once it has reached it for 5 s', async () => {
    const [first] = await twoWorkers();
    for (const link of first.links.values()) link.sever(how);
    await advance(clock, 120_000);
    expect(await held(first)).toMatchObject({ watcher: 0, writer: 0 });
    for (const link of first.links.values()) link.heal();
    await advance(clock, 4_500);
    expect(await held(first)).toMatchObject({ watcher: 0, writer: 0 });
    await advance(clock, 20_000);
    expect(await held(first)).toMatchObject({ writer: 4 });
    change(false);
    await advance(clock, 10_000);
    expect(differences()).toEqual([]);
  });

  test('keeps what it can do for other clusters', async () => {
    const [first] = await twoWorkers();
    const watched = new Set((await leases.state('watcher')).leases.map(({ scope, holder }) => `${holder} ${scope}`));
    const kept = [...servers].find(([, { identity }]) => watched.has(`first ${identity}`))?.[0] ?? '';
    for (const [cluster, link] of first.links) if (cluster !== kept) link.sever(how);
    await advance(clock, 10_000);
    expect(await held(first)).toMatchObject({ watcher: 1, writer: 0 });
    change(false);
    await advance(clock, 10_000);
    expect(differences()).toEqual([]);
  });
});

test('an API server that no worker reaches moves nothing', async () => {
  const workers = await twoWorkers();
  const tokens = async () => {
    const groups = await Promise.all(['watcher', 'writer'].map((group) => leases.state(group)));
    return groups.map((state) => state.leases.map(({ scope, holder, fencingToken }) => [scope, holder, fencingToken]));
  };
  const before = await tokens();
  for (const [i, { links }] of workers.entries()) {
    await advance(clock, 300 * i);
    for (const link of links.values()) link.sever(i === 0 ? 'refuse' : 'swallow');
  }
  await advance(clock, 120_000);
  for (const [i, { links }] of workers.entries()) {
    await advance(clock, 300 * i);
    for (const link of links.values()) link.heal();
  }
  await advance(clock, 120_000);
  expect(await tokens()).toEqual(before);
});

test('a worker that has never reached a cluster applies no plans while another one can', async () => {
  const first = start('first');
  await advance(clock, 10_000);
  const second = start('second', ['east']);
  await advance(clock, 60_000);
  expect(await held(second)).toMatchObject({ writer: 0, reconciler: 4 });
  change(false);
  await advance(clock, 10_000);
  expect(differences()).toEqual([]);
  second.links.get('east')?.heal();
  await advance(clock, 60_000);
  expect([await held(first), await held(second)]).toMatchObject([{ writer: 4 }, { writer: 4 }]);
});

test('a single worker keeps everything, and asks no server', async () => {
  const first = start('first');
  await advance(clock, 10_000);
  for (const link of first.links.values()) link.sever('swallow');
  first.bus.fallSilent();
  await advance(clock, 60_000);
  expect(await held(first)).toEqual({ watcher: 2, reconciler: partitions, writer: partitions });
  expect((await leases.state('writer')).stalled).toBeUndefined();
});

test('a worker whose bus is connected but does not answer leaves its share to the other one', async () => {
  const [first, second] = await twoWorkers();
  first.bus.fallSilent();
  change(false);
  const lost = await until(async () => Object.values(await held(first)).every((count) => count === 0));
  expect(lost).toBeLessThanOrEqual(takeOverWithinMs);
  await advance(clock, 10_000);
  expect(await held(second)).toEqual({ watcher: 2, reconciler: partitions, writer: partitions });
  expect(differences()).toEqual([]);
  first.bus.recover();
  await advance(clock, 60_000);
  expect(await held(first)).toMatchObject({ reconciler: 4, writer: 4 });
  change(true);
  await advance(clock, 10_000);
  expect(differences()).toEqual([]);
});
