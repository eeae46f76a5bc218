import { MemoryBus, streamStart } from '@sluice/bus';
import { FakeApiServer, FakeClient, populate } from '@sluice/fake-apiserver';
import { chainReader } from '@sluice/kubernetes';
import { decodeMessage, type Message } from '@sluice/messages';
import { seededRandom, silentLogger, sleep, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { type Leases, MemoryClusterDirectory, MemoryDeadLetters, MemoryLeases, MemoryStore } from '@sluice/store';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runWatcherRole, watcherShare } from './watcher-role.ts';

const partitions = 3;

let clock: VirtualClock;
let bus: MemoryBus;
let directory: MemoryClusterDirectory;
interface Running {
  end(how: 'handover' | 'removed'): Promise<void>;
  /** As the process does when it is asked to end: it serves the cluster until it has handed it over. */
  stop(): Promise<void>;
}
let start: (member: string) => Running;
let ended: (() => Promise<void>)[];
let watches: { readonly member: string; readonly at: number; readonly signal: AbortSignal }[];
let server: FakeApiServer;
/** Members whose reports that they are prepared do not reach the store. */
let unheard: Set<string>;
/** Members whose heartbeats no longer reach the store. */
let cutOff: Set<string>;

beforeEach(() => {
  clock = new VirtualClock(1_000);
  bus = new MemoryBus({ partitions });
  directory = new MemoryClusterDirectory();
  ended = [];
  watches = [];
  cutOff = new Set();
  unheard = new Set();
  server = new FakeApiServer({ clock, random: seededRandom(1) });
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
      if (request.verb !== 'watch') return next(request);
      watches.push({ member, at: clock.monotonic(), signal: request.signal });
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
    const stopProcess = async () => {
      stop.abort();
      await owning;
      served.abort('handover');
      await running;
    };
    ended.push(() => end('handover'));
    return { end, stop: stopProcess };
  };
});

afterEach(async () => {
  for (const end of ended) await end();
});

const leasesOf = (member: string, leases: Leases): Leases => ({
  heartbeat: (heartbeat) => {
    if (cutOff.has(member)) return Promise.reject(new Error('cut off'));
    return leases.heartbeat(unheard.has(member) ? { ...heartbeat, prepared: [] } : heartbeat);
  },
  leave: (group, name) => leases.leave(group, name),
  watch: (group, onChange) => leases.watch(group, onChange),
  state: (group) => leases.state(group),
});

const listed = async () => (await directory.list()).map(({ name }) => name);

let reads = 0;

/** All messages of the watchers. */
async function published(): Promise<readonly Message[]> {
  const messages: Message[] = [];
  for (let partition = 0; partition < partitions; partition++) {
    const reader = bus.read('changes', partition, streamStart);
    await bus.append('changes', partition, [
      { key: 'end', id: `end-${reads++}`, headers: {}, payload: new Uint8Array() },
    ]);
    const records = await reader.next(1_000);
    reader.close();
    for (const { key, payload } of records) if (key !== 'end') messages.push(decodeMessage(payload));
  }
  return messages;
}

const forgotten = async () => (await published()).filter(({ kind }) => kind === 'clusterRemoved').length;

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

test('a removal that outlasts the lease leaves the list to the next watcher', async () => {
  const one = start('a');
  await advance(clock, 5_000);
  start('b');
  await advance(clock, 5_000);
  const append = bus.append.bind(bus);
  bus.append = async (topic, partition, records) => {
    if (records.some(({ key }) => key === server.identity)) await sleep(clock, 1_000);
    return append(topic, partition, records);
  };
  cutOff.add('a');
  await one.end('removed');
  expect(await listed()).toEqual(['prod']);
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

describe('a watcher that stops', () => {
  const watchesOf = (member: string) => watches.filter((watch) => watch.member === member);
  const openWatches = (member: string) => watchesOf(member).filter(({ signal }) => !signal.aborted).length;

  test('watches until the next one has listed the cluster; that one publishes nothing again and keeps no deleted Pod', async () => {
    const { pod } = populate(server, { services: 3, podsPerService: 2 });
    const one = start('a');
    await advance(clock, 5_000);
    start('b');
    await advance(clock, 5_000);
    unheard.add('b');
    const before = (await published()).length;
    const stopping = one.stop();
    await advance(clock, 500);
    expect(watchesOf('b')).toHaveLength(5);
    const { namespace, name } = pod(0, 0);
    server.delete('pods', namespace, name, { gracePeriodSeconds: 0 });
    await advance(clock, 200);
    const after = await published();
    expect(after.length).toBeGreaterThan(before);
    await advance(clock, 5_000);
    await stopping;
    expect(await published()).toEqual(after);
    expect(watchesOf('b')).toHaveLength(5);
    const other = pod(1, 0);
    server.delete('pods', other.namespace, other.name, { gracePeriodSeconds: 0 });
    await advance(clock, 1_000);
    expect((await published()).length).toBeGreaterThan(after.length);
  });

  test('waits for a second at most, and not at all when it is alone', async () => {
    const one = start('a');
    await advance(clock, 5_000);
    const two = start('b');
    await advance(clock, 5_000);
    unheard.add('b');
    const ends: string[] = [];
    const stopping = one.stop().then(() => ends.push('a'));
    await advance(clock, 900);
    expect(ends).toEqual([]);
    await advance(clock, 400);
    expect(ends).toEqual(['a']);
    await stopping;
    const last = two.stop().then(() => ends.push('b'));
    await advance(clock, 50);
    expect(ends).toEqual(['a', 'b']);
    await last;
  });

  test('closes the watches of the one that was to follow when that one stops as well', async () => {
    const one = start('a');
    await advance(clock, 5_000);
    const two = start('b');
    await advance(clock, 5_000);
    unheard.add('b');
    const stopping = [one.stop()];
    await advance(clock, 200);
    expect(openWatches('b')).toBe(5);
    stopping.push(two.stop());
    await advance(clock, 5_000);
    await Promise.all(stopping);
    expect(openWatches('b')).toBe(0);
  });
});
