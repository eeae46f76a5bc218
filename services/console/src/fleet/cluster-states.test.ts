import { silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { unidentified } from '@sluice/store';
import { beforeEach, describe, expect, test } from 'vitest';
import { memoryFleet } from '../testing/memory-fleet.ts';
import { type ClusterConflict, FleetSources } from './fleet-sources.ts';

let clock: VirtualClock;
let fleet: ReturnType<typeof memoryFleet>;

beforeEach(() => {
  clock = new VirtualClock(1_000);
  fleet = memoryFleet(clock);
});

const west = { identity: 'uid-1', name: 'west', version: 'v1.36.3', server: 'https://one' };
const nameless = { ...west, identity: unidentified('west'), version: '', server: '' };
const outage = { since: 500, reason: 'connection refused' };

async function clusters(...conflicts: readonly ClusterConflict[]) {
  const sources = new FleetSources(fleet, { clock, logger: silentLogger }, undefined, async () => conflicts);
  await sources.readClusters();
  return sources.clusters();
}
const otherWatcher = () => fleet.heartbeat('watcher', 'watcher-2', []);
const watch = () => fleet.heartbeat('watcher', 'watcher-1', ['uid-1']);

describe('the state of a cluster', () => {
  test('is watched by its owner, or not watched', async () => {
    await fleet.directory.put(west);
    expect(await clusters()).toEqual([{ ...west, state: 'not watched', notWatchedSince: 1_000 }]);
    await watch();
    expect(await clusters()).toEqual([{ ...west, state: 'watched', watcher: { owner: 'watcher-1', epoch: 1_000 } }]);
  });

  test.each([
    ['not answering', outage],
    ['unusable', { ...outage, answers: true }],
  ])('is %s with its outage, whether it is watched or not', async (state, current) => {
    await otherWatcher();
    await fleet.directory.put({ ...west, outage: current });
    expect(await clusters()).toEqual([{ ...west, state, outage: current, notWatchedSince: 1_000 }]);
    await watch();
    expect(await clusters()).toMatchObject([{ state, outage: current, watcher: { owner: 'watcher-1' } }]);
  });

  test('is not watched once all watchers are gone, whatever they reported', async () => {
    await fleet.directory.put({ ...west, outage });
    const sources = new FleetSources(fleet, { clock, logger: silentLogger });
    const read = async () => {
      await sources.readClusters();
      return sources.clusters();
    };
    const notWatched = [{ ...west, state: 'not watched', notWatchedSince: 1_000 }];
    expect(await read()).toEqual(notWatched);
    clock.step(5_000);
    expect(await read()).toEqual(notWatched);
  });

  test('is what its watcher says, not what a watcher said that did not reach it at its start', async () => {
    await otherWatcher();
    await fleet.directory.put(west);
    await fleet.directory.put({ ...nameless, outage });
    expect(await clusters()).toMatchObject([{ ...west, state: 'not answering', outage }]);
    await watch();
    expect(await clusters()).toMatchObject([{ identity: 'uid-1', state: 'watched' }]);
    expect((await clusters())[0]).not.toHaveProperty('outage');
  });

  test.each([
    ['its identity', { name: 'other', identity: 'uid-1' }],
    ['its name', { name: 'west', identity: 'uid-2' }],
  ])('is a conflict of %s before anything else', async (_, conflict) => {
    await otherWatcher();
    await fleet.directory.put({ ...west, outage });
    const reason = 'https://two has the identity of it';
    expect(await clusters({ ...conflict, reason })).toMatchObject([{ state: `identity conflict: ${reason}` }]);
    expect(await clusters({ name: 'other', identity: 'uid-2', reason })).toMatchObject([{ state: 'not answering' }]);
  });
});

describe('the lag of a partition', () => {
  const record = { id: 'a', key: 'c/shop/web', headers: {}, payload: new Uint8Array([1]) };

  test.each<[number | null, string, { offset: number; streamId: string } | null]>([
    [2, 'in the same log', { offset: 1, streamId: 'memory' }],
    [2, 'in a log without a name', { offset: 1, streamId: '' }],
    [0, 'if it is ahead of the end that was read before', { offset: 9, streamId: 'memory' }],
    [null, 'in another log', { offset: 1, streamId: 'another' }],
    [null, 'if nothing is committed', null],
  ])('is %j %s', async (lag, _, checkpoint) => {
    await fleet.bus.append('changes', 0, [record, record, record]);
    if (checkpoint !== null) {
      const commit = { scope: 'reconciler/0', fencingToken: 1, expectedOffset: 0, entries: [] };
      await fleet.store.commit({ ...commit, checkpoint: { ...checkpoint, id: 'a' } });
    }
    const sources = new FleetSources(fleet, { clock, logger: silentLogger });
    expect((await sources.partitions()).map((share) => share.lag)).toEqual([lag, 0]);
  });

  test('of a writer is that of its plans', async () => {
    await fleet.bus.append('mutations', 1, [record, record]);
    const commit = { scope: 'writer/1', fencingToken: 1, expectedOffset: 0, entries: [] };
    await fleet.store.commit({ ...commit, checkpoint: { offset: 1, streamId: 'memory', id: 'a' } });
    await fleet.heartbeat('writer', 'writer-1', ['1']);
    const sources = new FleetSources(fleet, { clock, logger: silentLogger });
    expect((await sources.partitions()).map(({ writer }) => writer)).toEqual([
      { owner: '', epoch: 0, lag: 0 },
      { owner: 'writer-1', epoch: 1_000, lag: 1 },
    ]);
  });
});

test('what is read from the store is read again after a second, parked Services after ten', async () => {
  const sources = new FleetSources(fleet, { clock, logger: silentLogger });
  const read = () => Promise.all([sources.partitions(), sources.deadLetters(), sources.parked()]);
  const first = await read();
  const isSame = async () => (await read()).map((result, i) => result === first[i]);
  clock.step(1_999);
  expect(await isSame()).toEqual([true, true, true]);
  clock.step(2_000);
  expect(await isSame()).toEqual([false, false, true]);
  clock.step(10_999);
  expect((await isSame())[2]).toBe(true);
  clock.step(11_000);
  expect((await isSame())[2]).toBe(false);
});

test('traces are those of the given source', () => {
  const trace = async () => null;
  expect(new FleetSources(fleet, { clock, logger: silentLogger }, trace).trace).toBe(trace);
  expect(new FleetSources(fleet, { clock, logger: silentLogger }).trace).toBeUndefined();
});

describe('a server that has never answered', () => {
  const never = () => new Promise<never>(() => {});

  /** Runs the sources for this long. */
  async function outageAfter(ms: number, given: object) {
    const sources = new FleetSources({ ...fleet, ...given }, { clock, logger: silentLogger });
    const stop = new AbortController();
    const running = sources.run(stop.signal);
    await advance(clock, ms);
    stop.abort();
    await running;
    return sources.outage();
  }
  const silentBus = { bus: { partitions: 2, end: never } };

  test('has been silent since it was first noticed', async () => {
    const reason = 'no answer within 3 s';
    expect(await outageAfter(2_999, silentBus)).toBeNull();
    expect(await outageAfter(9_000, silentBus)).toEqual({ what: 'the bus', since: 6_999, reason });
  });

  test('gives the reason that its client knows, or its own error', async () => {
    const refused = { bus: { partitions: 2, end: () => Promise.reject(new Error('connection refused')) } };
    expect(await outageAfter(1, refused)).toMatchObject({ reason: 'connection refused' });
    const unknown = { ...refused, whyUnreachable: async () => undefined };
    expect(await outageAfter(1, unknown)).toMatchObject({ reason: 'connection refused' });
    const known = { ...refused, whyUnreachable: async () => 'certificate expired' };
    expect(await outageAfter(1, known)).toMatchObject({ reason: 'certificate expired' });
  });

  test('leaves no timers behind', async () => {
    await outageAfter(9_000, silentBus);
    expect(clock.nextAt()).toBeUndefined();
  });
});
