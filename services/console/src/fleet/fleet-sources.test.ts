import { silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { aController } from '@sluice/service-state/testing';
import { unidentified } from '@sluice/store';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { memoryFleet } from '../testing/memory-fleet.ts';
import { cached, FleetSources } from './fleet-sources.ts';

describe('fleet sources', () => {
  const record = (id: string) => ({ id, key: 'c/shop/web', headers: {}, payload: new Uint8Array([1]) });
  let clock: VirtualClock;
  let fleet: ReturnType<typeof memoryFleet>;
  let sources: FleetSources;

  beforeEach(() => {
    clock = new VirtualClock(1_000);
    fleet = memoryFleet(clock);
    sources = new FleetSources(fleet, { clock, logger: silentLogger });
  });

  test('reports owners, fencing tokens and lags of each partition', async () => {
    await fleet.bus.append('changes', 0, [record('a'), record('b'), record('c')]);
    const end = await fleet.bus.end('changes', 0);
    await fleet.bus.append('mutations', 0, [record('p')]);
    await fleet.heartbeat('reconciler', 'reconciler-1', ['0']);
    await fleet.heartbeat('writer', 'writer-1', ['0']);
    const commit = { scope: 'reconciler/0', fencingToken: 1_000, expectedOffset: 0, entries: [] };
    await fleet.store.commit({ ...commit, checkpoint: { offset: 1, id: 'a', streamId: end.streamId } });
    expect(await sources.partitions()).toEqual([
      {
        ...{ partition: 0, owner: 'reconciler-1', epoch: 1_000, lag: 2 },
        writer: { owner: 'writer-1', epoch: 1_000, lag: null },
      },
      { ...{ partition: 1, owner: '', epoch: 0, lag: 0 }, writer: { owner: '', epoch: 0, lag: 0 } },
    ]);
  });

  test('reports problems of the store as of its last check', () => {
    expect(sources.storeProblems()).toEqual([]);
    const problems = [{ kind: 'eviction', message: 'Redis on port 6379 may evict' } as const];
    const checked = new FleetSources({ ...fleet, storeProblems: () => problems }, { clock, logger: silentLogger });
    expect(checked.storeProblems()).toEqual(['Redis on port 6379 may evict']);
  });

  test('reports the names of clusters and whether they are watched', async () => {
    await fleet.directory.put({ identity: 'uid-1', name: 'production', version: 'v1.36.3', server: 'https://one' });
    await fleet.directory.put({ identity: 'uid-2', name: 'staging', version: 'v1.36.3', server: 'https://two' });
    await fleet.heartbeat('watcher', 'watcher-1', ['uid-1']);
    expect(sources.clusters()).toEqual([]);
    await sources.readClusters();
    expect(sources.clusters()).toMatchObject([
      { name: 'production', state: 'watched', watcher: { owner: 'watcher-1', epoch: 1_000 } },
      { name: 'staging', state: 'not watched' },
    ]);
  });

  test('reports dead letters and parked keys from the store', async () => {
    const deadLetter = {
      topic: 'changes',
      partition: 1,
      offset: 7,
      deadLetteredAt: 900,
      reason: 'version 9.0',
      record: record('x'),
    };
    await fleet.deadLetters.add(deadLetter);
    await fleet.deadLetters.add({ ...deadLetter, offset: 8, record: { ...record('y'), key: 'resync' } });
    await fleet.directory.put({ identity: 'c', name: 'west', version: '', server: '' });
    await sources.readClusters();
    const view = { topic: 'changes', reason: 'version 9.0', at: 900 };
    expect(await sources.deadLetters()).toEqual([
      { ...view, name: 'changes/1/7', key: 'c/shop/web', clusterName: 'west' },
      { ...view, name: 'changes/1/8', key: 'resync', clusterName: '' },
    ]);
    const state = aController({ retries: { parked: 'forbidden', parkedSince: 500 }, timers: { dueAt: 2_000 } });
    await fleet.store.commit({
      scope: 'reconciler/1',
      fencingToken: 1,
      expectedOffset: 0,
      checkpoint: { offset: 1, id: 'a', streamId: 'l' },
      entries: [{ key: 'c/shop/web', field: 'controller/endpointslice', value: state }],
    });
    expect(await sources.parked()).toMatchObject([
      { name: 'c/shop/web/endpointslice', reason: 'forbidden', since: 500, nextTryAt: 2_000 },
    ]);
  });

  test('reads clusters frequently at first, then every few seconds', async () => {
    const stop = new AbortController();
    const running = sources.run(stop.signal);
    await advance(clock, 1_000);
    await fleet.directory.put({ identity: 'uid-1', name: 'production', version: 'v1.36.3', server: 'https://one' });
    await advance(clock, 250);
    expect(sources.clusters()).toMatchObject([{ name: 'production', state: 'not watched' }]);
    await advance(clock, 60_000);
    await fleet.heartbeat('watcher', 'watcher-1', ['uid-1']);
    await advance(clock, 5_000);
    expect(sources.clusters()).toMatchObject([{ name: 'production', state: 'watched' }]);
    stop.abort();
    await running;
  });

  test('a cluster whose identity is in conflict says so', async () => {
    await fleet.directory.put({ identity: 'uid-1', name: 'production', version: 'v1.36.3', server: 'https://one' });
    const conflicts = async () => [
      { name: 'staging', identity: 'uid-1', reason: 'https://two has the identity of it' },
    ];
    sources = new FleetSources(fleet, { clock, logger: silentLogger }, undefined, conflicts);
    await sources.readClusters();
    expect(sources.clusters()).toMatchObject([{ state: 'identity conflict: https://two has the identity of it' }]);
  });

  test('a cluster whose API server does not answer says since when', async () => {
    const outage = { since: 500, reason: 'connection refused' };
    const west = { identity: 'uid-1', name: 'west', version: 'v1.36.3', server: 'https://one' };
    await fleet.directory.put({ ...west, outage });
    await fleet.heartbeat('watcher', 'watcher-1', ['uid-1']);
    await sources.readClusters();
    expect(sources.clusters()).toMatchObject([{ name: 'west', state: 'not answering', outage }]);
    await fleet.directory.put(west);
    await sources.readClusters();
    expect(sources.clusters()).toMatchObject([{ name: 'west', state: 'watched' }]);
  });

  test('a cluster that has not answered since the start of its watcher is listed once, with its last identity if known', async () => {
    await fleet.heartbeat('watcher', 'watcher-1', []);
    const outage = { since: 500, reason: 'connection refused' };
    for (const name of ['west', 'east'])
      await fleet.directory.put({ identity: unidentified(name), name, version: '', server: '', outage });
    await fleet.directory.put({ identity: 'uid-1', name: 'west', version: 'v1.36.3', server: 'https://one' });
    await sources.readClusters();
    expect(sources.clusters()).toMatchObject([
      { identity: 'uid-1', name: 'west', state: 'not answering', outage },
      { name: 'east', state: 'not answering', outage },
    ]);
  });

  test('while the store does not answer, clusters are in an unknown state since its last answer', async () => {
    await fleet.directory.put({ identity: 'uid-1', name: 'west', version: 'v1.36.3', server: 'https://one' });
    const stop = new AbortController();
    const running = sources.run(stop.signal);
    await advance(clock, 30_000);
    expect(sources.outage()).toBeNull();
    const lastAnswerAt = clock.now();
    const list = vi.spyOn(fleet.directory, 'list').mockRejectedValue(new Error('connection refused'));
    await advance(clock, 10_000);
    expect(sources.outage()).toMatchObject({ what: 'the store', reason: 'connection refused' });
    expect(Math.abs((sources.outage()?.since ?? 0) - lastAnswerAt)).toBeLessThanOrEqual(2_000);
    expect(sources.clusters()).toMatchObject([{ name: 'west', state: 'unknown' }]);
    list.mockRestore();
    await advance(clock, 10_000);
    expect(sources.outage()).toBeNull();
    stop.abort();
    await running;
  });

  test('why no server of a backend accepts a connection is the reason of its outage', async () => {
    vi.spyOn(fleet.bus, 'end').mockReturnValue(new Promise(() => {}));
    const whyUnreachable = async (backend: string) => (backend === 'bus' ? 'connection refused' : undefined);
    sources = new FleetSources({ ...fleet, whyUnreachable }, { clock, logger: silentLogger });
    const stop = new AbortController();
    const running = sources.run(stop.signal);
    await advance(clock, 6_000);
    expect(sources.outage()).toMatchObject({ what: 'the bus', reason: 'connection refused' });
    stop.abort();
    await running;
  });

  test('a bus that does not answer in time is an outage as well, and delays no read of the clusters for long', async () => {
    vi.spyOn(fleet.bus, 'end').mockReturnValue(new Promise(() => {}));
    const stop = new AbortController();
    const running = sources.run(stop.signal);
    await advance(clock, 6_000);
    expect(sources.outage()).toMatchObject({ what: 'the bus', reason: 'no answer within 3 s' });
    await fleet.directory.put({ identity: 'uid-1', name: 'west', version: 'v1.36.3', server: 'https://one' });
    await advance(clock, 15_000);
    expect(sources.clusters()).toMatchObject([{ name: 'west' }]);
    stop.abort();
    await running;
  });
});

test('shares one result among callers until it expires', async () => {
  const clock = new VirtualClock();
  let loads = 0;
  const load = cached(clock, 1_000, async () => ++loads);
  expect(await Promise.all([load(), load()])).toEqual([1, 1]);
  clock.step(clock.now() + 999);
  expect(await load()).toBe(1);
  clock.step(clock.now() + 1);
  expect(await load()).toBe(2);
});

test('does not cache failures', async () => {
  let loads = 0;
  const load = cached(new VirtualClock(), 1_000, async () => {
    if (++loads === 1) throw new Error('unavailable');
    return loads;
  });
  await expect(load()).rejects.toThrow('unavailable');
  expect(await load()).toBe(2);
});

test('a load that fails late does not drop a newer result', async () => {
  const clock = new VirtualClock();
  const first = Promise.withResolvers<number>();
  const results = [first.promise, Promise.resolve(2), Promise.resolve(3)];
  const load = cached(clock, 1_000, () => results.shift() ?? expect.unreachable());
  const failed = expect(load()).rejects.toThrow('unavailable');
  clock.step(clock.now() + 1_000);
  expect(await load()).toBe(2);
  first.reject(new Error('unavailable'));
  await failed;
  expect(await load()).toBe(2);
});
