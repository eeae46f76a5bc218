import { MemoryBus, streamStart } from '@sluice/bus';
import { FakeApiServer, FakeClient } from '@sluice/fake-apiserver';
import { chainReader } from '@sluice/kubernetes';
import { decodeMessage } from '@sluice/messages';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/runtime';
import { advance } from '@sluice/runtime/testing';
import { type Leases, MemoryClusterDirectory, MemoryDeadLetters, MemoryLeases, MemoryStore } from '@sluice/store';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runWatcherRole, watcherShare } from './watcher-role.ts';

const partitions = 3;

let clock: VirtualClock;
let bus: MemoryBus;
let directory: MemoryClusterDirectory;
let start: (member: string) => { end(how: 'handover' | 'removed'): Promise<void> };
let ended: (() => Promise<void>)[];
let watches: { readonly member: string; readonly at: number }[];
/** Members whose heartbeats no longer reach the store. */
let cutOff: Set<string>;

beforeEach(() => {
  clock = new VirtualClock(1_000);
  bus = new MemoryBus({ partitions });
  directory = new MemoryClusterDirectory();
  ended = [];
  watches = [];
  cutOff = new Set();
  const server = new FakeApiServer({ clock, random: seededRandom(1) });
  const shared = {
    bus,
    store: new MemoryStore(),
    leases: new MemoryLeases(clock),
    deadLetters: new MemoryDeadLetters(),
  };
  start = (member) => {
    const served = new AbortController();
    const client = new FakeClient(server, { clock, watchList: true });
    const reader = chainReader(client, async (request, next) => {
      if (request.verb === 'watch') watches.push({ member, at: clock.monotonic() });
      return next(request);
    });
    const cluster = { name: 'prod', identity: server.identity, reader };
    const options = {
      ...{ ...shared, leases: leasesOf(member, shared.leases), directory, member, clock },
      ...{ random: seededRandom(2), logger: silentLogger, leaseTimes: { ttlMs: 900, heartbeatMs: 250 } },
    };
    const share = watcherShare(options);
    const stop = new AbortController();
    const owning = share.run(stop.signal);
    const running = runWatcherRole({ ...options, share, cluster }, served.signal);
    const end = async (how: string) => {
      served.abort(how);
      await advance(clock, 5_000);
      await running;
      stop.abort();
      await advance(clock, 5_000);
      await owning;
    };
    ended.push(() => end('handover'));
    return { end };
  };
});

afterEach(async () => {
  for (const end of ended) await end();
});

const leasesOf = (member: string, leases: Leases): Leases => ({
  heartbeat: (heartbeat) => (cutOff.has(member) ? Promise.reject(new Error('cut off')) : leases.heartbeat(heartbeat)),
  leave: (group, name) => leases.leave(group, name),
  watch: (group, onChange) => leases.watch(group, onChange),
  state: (group) => leases.state(group),
});

const listed = async () => (await directory.list()).map(({ name }) => name);

async function forgotten(): Promise<number> {
  let count = 0;
  for (let partition = 0; partition < partitions; partition++) {
    const reader = bus.read('changes', partition, streamStart);
    await bus.append('changes', partition, [
      { key: 'end', id: `end-${count}`, headers: {}, payload: new Uint8Array() },
    ]);
    const records = await reader.next(1_000);
    reader.close();
    for (const { key, payload } of records) {
      if (key !== 'end' && decodeMessage(payload).kind === 'clusterRemoved') count++;
    }
  }
  return count;
}

test('a cluster is listed while it is watched, and after a hand-over', async () => {
  const [one] = [start('a')];
  await advance(clock, 5_000);
  expect(await listed()).toEqual(['prod']);
  await one?.end('handover');
  expect(await listed()).toEqual(['prod']);
  expect(await forgotten()).toBe(0);
});

test('a removed cluster is removed from each partition and from the list', async () => {
  const one = start('a');
  await advance(clock, 5_000);
  await one.end('removed');
  expect(await listed()).toEqual([]);
  expect(await forgotten()).toBe(partitions);
});

test('a cluster removed from its watcher but not from a standby continues there and is listed again', async () => {
  const one = start('a');
  await advance(clock, 5_000);
  start('b');
  await advance(clock, 5_000);
  await one.end('removed');
  await advance(clock, 5_000);
  expect(await listed()).toEqual(['prod']);
});

test('a standby opens its watches while the lease of the silent watcher runs out, and reads them when it takes over', async () => {
  start('a');
  await advance(clock, 5_000);
  start('b');
  await advance(clock, 5_000);
  const watchesOf = (member: string) => watches.filter((watch) => watch.member === member);
  expect(watchesOf('b')).toEqual([]);
  cutOff.add('a');
  const silentSince = clock.monotonic();
  await advance(clock, 5_000);
  expect(await listed()).toEqual(['prod']);
  const times = watchesOf('b').map(({ at }) => at - silentSince);
  expect(times).toHaveLength(5);
  for (const time of times) expect(time).toBeLessThan(900 - 100);
});
