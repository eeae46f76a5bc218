import { Ownership } from '@sluice/fleet/ownership';
import { aborted, seededRandom, silentLogger, sleep, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import type { KeepAliveOptions, Leases } from '@sluice/store';
import {
  groupKeys,
  LeaseRenewer,
  LeaseThreadClient,
  Lua,
  MemoryRedis,
  memoryClient,
  memoryPorts,
  Script,
} from '@sluice/store/redis/testing';
import { beforeEach, expect, test } from 'vitest';

const lua = await Lua.load();
const [ttlMs, heartbeatMs, scopes] = [900, 250, ['0', '1', '2', '3']];
let clock: VirtualClock;
let server: MemoryRedis;

beforeEach(() => {
  clock = new VirtualClock(Date.UTC(2026, 0, 1));
  server = new MemoryRedis({ lua, clock });
});

/** Production leases of one process on a Redis in memory. */
function start(member: string, change: (leases: Leases) => Partial<Leases> = () => ({})) {
  const { leases } = memoryPorts({ server, clock, fleet: 'sluice' });
  const worked = new Set<string>();
  const options = { group: 'writer', member, scopes, ttlMs, heartbeatMs, clock };
  void new Ownership({
    ...{ ...options, random: seededRandom(1), logger: silentLogger },
    leases: {
      heartbeat: (heartbeat) => leases.heartbeat(heartbeat),
      leave: (...args) => leases.leave(...args),
      state: (group) => leases.state(group),
      watch: () => () => {},
      ...change(leases),
    },
    work: async ({ scope, signal, started }) => {
      worked.add(scope);
      started();
      await aborted(signal);
      worked.delete(scope);
    },
  }).run(new AbortController().signal);
  return { worked, leases };
}

/** How often nobody works on some scope within a time. */
async function gaps(members: readonly ReturnType<typeof start>[], ms: number): Promise<number> {
  let count = 0;
  for (let at = 0; at < ms; at += heartbeatMs) {
    await advance(clock, heartbeatMs);
    if (new Set(members.flatMap(({ worked }) => [...worked])).size < scopes.length) count++;
  }
  return count;
}

test.each([1_000, 2_000])(
  'a member whose heartbeats are answered after %i ms leaves its share to another one, until they are in time',
  async (lateMs) => {
    let late = 0;
    const a = start('a', (leases) => ({
      // The server executes it at once; the answer is late.
      heartbeat: async (heartbeat) => {
        const state = await leases.heartbeat(heartbeat);
        if (late === 0) return state;
        await sleep(clock, Math.min(late, ttlMs));
        throw new Error('no answer within the TTL');
      },
    }));
    const b = start('b');
    await advance(clock, 20_000);
    expect([a.worked.size, b.worked.size]).toEqual([2, 2]);
    late = lateMs;
    await advance(clock, 5_000);
    expect([...b.worked].sort()).toEqual(scopes);
    expect((await b.leases.state('writer')).stalled).toEqual(new Map([['a', ['*store']]]));
    expect(await gaps([a, b], 10 * 60_000)).toBe(0);
    late = 0;
    await advance(clock, 20_000);
    expect([a.worked.size, b.worked.size]).toEqual([2, 2]);
  },
);

test('a member that neither acquires its scopes nor says why is left out by the others, for ever longer times', async () => {
  const b = start('b');
  await advance(clock, 5_000);
  const a = memoryPorts({ server, clock, fleet: 'sluice' }).leases;
  const silent = async () => {
    for (;;) {
      await a.heartbeat({ group: 'writer', member: 'a', ttlMs, acquire: [], release: [] });
      await sleep(clock, heartbeatMs);
    }
  };
  void silent();
  await advance(clock, 20_000);
  expect([...b.worked].sort()).toEqual(scopes);
  const perHour = 3_600_000 / heartbeatMs;
  expect(await gaps([b], 3_600_000)).toBeLessThan(perHour / 10);
});

/** A process with its lease thread. `answers`: whether the heartbeats of its main thread are answered. */
function withThread(member: string, answers: () => boolean) {
  const renewScript = new Script(['alive-until', 'renew'], ['allow-oom']);
  const client = memoryClient(server);
  const thread = new LeaseThreadClient({
    ...{ clock, logger: silentLogger, redis: { urls: ['redis://x'], fleet: 'sluice' } },
    start: (_, { onMessage }) => {
      const renewer = new LeaseRenewer({
        clock,
        log: (line) => onMessage({ kind: 'log', line }),
        renew: async ({ group, member: name, ttlMs: ttl }, leases) =>
          Number(await renewScript.run(client, groupKeys('sluice', group), [name, ttl, ...leases.flat()])) === 1,
      });
      queueMicrotask(() => onMessage({ kind: 'ready' }));
      return { send: (request) => request.kind !== 'secrets' && renewer.handle(request), terminate() {} };
    },
  });
  return start(member, (leases) => ({
    heartbeat: async (heartbeat) => {
      if (!answers()) throw new Error('heartbeat timed out');
      return leases.heartbeat(heartbeat);
    },
    keepAlive: (options: KeepAliveOptions) => thread.keepAlive(options),
  }));
}

test('a process whose heartbeats are never answered loses its leases, although its lease thread reaches the store', async () => {
  let answered = true;
  const a = withThread('a', () => answered);
  await advance(clock, 3_000);
  const b = withThread('b', () => true);
  await advance(clock, 10_000);
  expect([a.worked.size, b.worked.size]).toEqual([2, 2]);
  answered = false;
  await advance(clock, 10_000);
  expect(a.worked.size, 'its event loop may be blocked').toBe(2);
  await advance(clock, 10_000);
  expect([...b.worked].sort()).toEqual(scopes);
});
