import { MemoryBus } from '@sluice/bus';
import { FakeApiServer, FakeClient, type FaultError, FaultPlan } from '@sluice/fake-apiserver';
import type { ConnectedCluster } from '@sluice/fleet/clusters';
import type { ServedShare } from '@sluice/fleet/roles';
import type { ClusterAccess } from '@sluice/kubernetes';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { type Leases, MemoryDeadLetters, MemoryLeases, MemoryStore } from '@sluice/store';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { assertUsable, FleetClusters } from './fleet-clusters.ts';
import { watcherShare } from './watcher-role.ts';

describe('fleet clusters', () => {
  let clock: VirtualClock;
  let server: FakeApiServer;
  let leases: Leases;
  let clusters: FleetClusters;
  let events: string[];
  let isListed: boolean;
  let isWritableWhenClosed: boolean;
  let stopping: AbortController;
  let connecting: AbortController;
  let share: ServedShare;
  let running: Promise<unknown>;

  beforeEach(() => {
    clock = new VirtualClock(1_000);
    server = new FakeApiServer({ clock, random: seededRandom(1) });
    leases = new MemoryLeases(clock);
    [events, isListed] = [[], true];
    [stopping, connecting] = [new AbortController(), new AbortController()];
  });

  afterEach(async () => {
    stopping.abort();
    connecting.abort();
    await advance(clock, 10_000);
    await running;
  });

  async function start(onShare: () => void = () => {}): Promise<void> {
    const ports = { clock, random: seededRandom(2), logger: silentLogger };
    const client = () => new FakeClient(server, { clock });
    const open = async (): Promise<ConnectedCluster> => ({
      ...{ name: 'west', identity: server.identity, server: '', version: '', record: () => {} },
      ...{ reader: client(), writer: client(), connection: undefined as never },
      close: async () => {
        events.push('closed');
        isWritableWhenClosed = typeof writable() === 'object';
      },
    });
    const candidate = { name: 'west', from: 'a file', fingerprint: '', load: async () => ({}) as ClusterAccess };
    const watcher = {
      ...{ ...ports, bus: new MemoryBus({ partitions: 2 }), store: new MemoryStore(), leases, member: 'a' },
      ...{ deadLetters: new MemoryDeadLetters(), leaseTimes: { ttlMs: 900, heartbeatMs: 250 } },
    };
    share = watcherShare(watcher);
    onShare();
    clusters = new FleetClusters({
      ...{ ...ports, open, work: ['watch', 'write'], limits: {}, metrics: undefined, partitions: 2 },
      sources: [{ about: 'a file', read: async () => ({ candidates: isListed ? [candidate] : [], problems: [] }) }],
      watcher: { ...watcher, share },
      stopping: stopping.signal,
      onServed: ({ name }) => events.push(`serves ${name}`),
    });
    running = Promise.all([clusters.run(connecting.signal), share.run(stopping.signal)]);
    await advance(clock, 2_000);
  }

  const watchers = async () => (await leases.state('watcher')).leases.map(({ holder }) => holder);
  const writable = () => clusters.writable(server.identity);

  test('a worker watches and writes to a cluster over one connection', async () => {
    await start();
    expect(events).toEqual(['serves west']);
    expect(await watchers()).toEqual(['a']);
    expect(writable()).toMatchObject({ writer: expect.anything() });
    expect(clusters.phases(true)).toMatchObject([{ name: 'west', phase: 'serving' }]);
  });

  test('at shutdown it stops watching at once, but stays connected until all partitions are handed over', async () => {
    await start();
    stopping.abort();
    await advance(clock, 5_000);
    expect(await watchers()).toEqual([]);
    expect(events).toEqual(['serves west']);
    expect(writable()).toMatchObject({ writer: expect.anything() });
    connecting.abort();
    await advance(clock, 1_000);
    expect(events).toEqual(['serves west', 'closed']);
  });

  test('plans for a removed cluster wait until the other processes know, and then it is unknown', async () => {
    await start();
    isListed = false;
    await advance(clock, 10_000);
    expect(events).toEqual(['serves west', 'closed']);
    expect(await watchers()).toEqual([]);
    expect(writable()).toBe('connecting');
    await advance(clock, 60_000);
    expect(writable()).toBeUndefined();
  });

  test('if watching fails, writing ends too before the connection is closed, and both start again', async () => {
    await start(() => {
      const serve = share.serve.bind(share);
      share.serve = async () => {
        share.serve = serve;
        throw new Error('broken');
      };
    });
    expect(isWritableWhenClosed).toBe(false);
    await advance(clock, 30_000);
    expect(events).toEqual(['serves west', 'closed', 'serves west']);
    expect(await watchers()).toEqual(['a']);
    expect(writable()).toMatchObject({ writer: expect.anything() });
  });
});

const clock = new VirtualClock(1_000);
const server = new FakeApiServer({ clock, random: seededRandom(1) });
const { signal } = new AbortController();

const clusterThat = (error?: FaultError, identity = server.identity) => {
  const faults = new FaultPlan(error === undefined ? [] : [{ error }]);
  return { identity, reader: new FakeClient(server, { clock, faults }) };
};

test.each([undefined, 'tooManyRequests'] as const)('a cluster is usable that answers (%s)', async (error) => {
  await expect(assertUsable(clusterThat(error), signal)).resolves.toBeUndefined();
});

test.each(['reset', 'unavailable', 'internal', 'forbidden', 'plainNotFound'] as const)(
  'a cluster is not usable that fails with %s, which other members may not see',
  async (error) => {
    await expect(assertUsable(clusterThat(error), signal)).rejects.toThrow();
  },
);

test('a cluster is not usable at whose address another one answers', async () => {
  await expect(assertUsable(clusterThat(undefined, 'another'), signal)).rejects.toThrow('another cluster answers');
});
