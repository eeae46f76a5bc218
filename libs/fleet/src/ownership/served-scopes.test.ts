import { aborted, seededRandom, silentLogger, sleep, VirtualClock } from '@sluice/platform';
import { advance as advanceClock } from '@sluice/platform/testing';
import { type Heartbeat, MemoryLeases } from '@sluice/store';
import { beforeEach, describe, expect, test } from 'vitest';
import type { HeldLease } from './holdings.ts';
import { Ownership } from './ownership.ts';
import { giveUpMs } from './progress.ts';

const [ttlMs, heartbeatMs, handoverMs] = [900, 300, 1_000];
const names = (count: number) => Array.from({ length: count }, (_, i) => `c${i}`);

let clock: VirtualClock;
let leases: MemoryLeases;

beforeEach(() => {
  clock = new VirtualClock(Date.UTC(2026, 0, 1));
  leases = new MemoryLeases(clock);
});

const advance = (ms: number) => advanceClock(clock, ms);

/** One process that watches clusters. */
class Member {
  readonly name: string;
  readonly held = new Set<string>();
  readonly preparing = new Set<string>();
  readonly heartbeats: Heartbeat[] = [];
  readonly stop = new AbortController();
  readonly running: Promise<void>;
  connected = true;
  unreachable = false;
  /** How long it takes to prepare a scope of another member. */
  preparesAfterMs = 0;
  /** The version of a member that knows nothing of preparations. */
  isOld = false;
  /** How long work takes to start, by scope. */
  startsAfterMs: (scope: string) => number = () => 0;
  /** How long work takes to stop, by scope. */
  stopsAfterMs: (scope: string) => number = () => 0;
  readonly #ownership: Ownership;
  readonly #served = new Map<string, { readonly stop: AbortController; readonly done: Promise<void> }>();

  constructor(name: string, scopes: readonly string[]) {
    this.name = name;
    this.#ownership = new Ownership({
      ...{ group: 'watcher', member: name, ttlMs, heartbeatMs, handoverMs, clock },
      ...{ random: seededRandom(1), logger: silentLogger },
      leases: {
        heartbeat: (heartbeat) => {
          if (this.unreachable) return Promise.reject(new Error('store unreachable'));
          this.heartbeats.push(heartbeat);
          return leases.heartbeat(this.isOld ? { ...heartbeat, prepared: [] } : heartbeat);
        },
        leave: (...args) => leases.leave(...args),
        watch: (...args) => leases.watch(...args),
        state: (group) => leases.state(group),
      },
      stalled: () => (this.connected ? [] : ['*bus']),
      prepare: (scope) => this.#prepare(scope),
      work: (lease) => this.#work(lease),
    });
    for (const scope of scopes) this.serve(scope);
    this.running = this.#ownership.run(this.stop.signal);
  }

  serve(scope: string): void {
    const stop = new AbortController();
    this.#served.set(scope, { stop, done: this.#ownership.serve(scope, stop.signal) });
  }

  /** Resolves when the cluster may be disconnected. */
  end(scope: string): Promise<void> {
    const served = this.#served.get(scope);
    served?.stop.abort();
    return served?.done ?? Promise.resolve();
  }

  async #prepare(scope: string): Promise<void> {
    this.preparing.add(scope);
    if (this.preparesAfterMs > 0) await sleep(clock, this.preparesAfterMs);
  }

  async #work({ scope, signal, started }: HeldLease): Promise<void> {
    this.held.add(scope);
    if (this.startsAfterMs(scope) > 0) clock.schedule(this.startsAfterMs(scope), started);
    else started();
    await aborted(signal);
    if (this.stopsAfterMs(scope) > 0) await sleep(clock, this.stopsAfterMs(scope));
    this.held.delete(scope);
  }
}

async function holders(): Promise<Readonly<Record<string, string>>> {
  const { leases: held } = await leases.state('watcher');
  return Object.fromEntries(held.map(({ scope, holder }) => [scope, holder]));
}

describe('members that serve different scopes', () => {
  test('hold only what they can serve, and all of it', async () => {
    const a = new Member('a', ['c0', 'c1', 'c2']);
    const b = new Member('b', ['c3']);
    await advance(5_000);
    expect([[...a.held].sort(), [...b.held]]).toEqual([['c0', 'c1', 'c2'], ['c3']]);
  });

  test('divide evenly what several can serve', async () => {
    const a = new Member('a', names(20));
    const b = new Member('b', names(20));
    await advance(10_000);
    expect([a.held.size, b.held.size]).toEqual([10, 10]);
    const c = new Member('c', names(20));
    await advance(10_000);
    expect([a.held.size, b.held.size, c.held.size].sort()).toEqual([6, 7, 7]);
  });

  test('take over from a member that crashes what they can serve', async () => {
    const a = new Member('a', ['c0', 'c1']);
    const b = new Member('b', ['c1', 'c2']);
    await advance(2_000);
    a.unreachable = true;
    await advance(ttlMs + 1);
    expect([...b.held].sort()).toEqual(['c1', 'c2']);
    expect(a.held.size).toBe(0);
    expect([...b.preparing]).not.toContain('c0');
  });

  test('prepare for the scopes that they acquire if the late member expires', async () => {
    const a = new Member('a', names(4));
    await advance(2_000);
    const b = new Member('b', ['c0', 'c1']);
    await advance(2_000);
    const ofA = [...a.held].filter((scope) => scope === 'c0' || scope === 'c1');
    b.preparing.clear();
    a.unreachable = true;
    await advance(ttlMs - heartbeatMs / 2);
    expect([...b.preparing].sort()).toEqual(ofA.sort());
  });

  test('leave scopes to others when they are cut off from the bus only if others can serve some', async () => {
    const a = new Member('a', ['c0']);
    const b = new Member('b', ['c1']);
    await advance(2_000);
    a.connected = false;
    await advance(giveUpMs * 3);
    expect([...a.held]).toEqual(['c0']);
    b.serve('c0');
    await advance(giveUpMs * 3);
    expect([a.held.size, [...b.held].sort()]).toEqual([0, ['c0', 'c1']]);
  });
});

describe('a scope', () => {
  test('is acquired when it is added, without waiting for the next heartbeat', async () => {
    const a = new Member('a', ['c0']);
    await advance(heartbeatMs * 2 + 100);
    a.serve('c1');
    await advance(1);
    expect([...a.held].sort()).toEqual(['c0', 'c1']);
  });

  test('is released when it is removed, once its work has stopped; others continue', async () => {
    const a = new Member('a', ['c0', 'c1']);
    await advance(2_000);
    const before = (await leases.state('watcher')).leases.find(({ scope }) => scope === 'c1');
    a.stopsAfterMs = (scope) => (scope === 'c0' ? 5_000 : 0);
    let ended = false;
    const ending = a.end('c0').then(() => {
      ended = true;
    });
    await advance(4_000);
    expect([ended, await holders()]).toEqual([false, { c0: 'a', c1: 'a' }]);
    await advance(1_001);
    await ending;
    expect(await holders()).toEqual({ c1: 'a' });
    expect((await leases.state('watcher')).leases).toEqual([before]);
    await advance(60_000);
    expect(await holders()).toEqual({ c1: 'a' });
  });

  test('that is removed goes to a member that still serves it', async () => {
    const a = new Member('a', ['c0']);
    await advance(2_000);
    const b = new Member('b', ['c0']);
    await advance(2_000);
    expect(await holders()).toEqual({ c0: 'a' });
    await a.end('c0');
    await advance(1);
    expect([...b.held]).toEqual(['c0']);
  });

  test('that is removed ends when its lease has expired while the store is unreachable', async () => {
    const a = new Member('a', ['c0']);
    await advance(2_000);
    a.unreachable = true;
    let ended = false;
    void a.end('c0').then(() => {
      ended = true;
    });
    await advance(heartbeatMs);
    expect(ended).toBe(false);
    await advance(ttlMs);
    expect(ended).toBe(true);
  });

  test('that is slow to stop or to start delays no other', async () => {
    const a = new Member('a', names(8));
    await advance(2_000);
    a.stopsAfterMs = (scope) => (scope === 'c3' ? 60_000 : 0);
    const b = new Member('b', names(8));
    b.startsAfterMs = (scope) => (scope === 'c5' ? 60_000 : 0);
    a.stop.abort();
    await advance(4 * handoverMs);
    expect([...a.held].filter((scope) => scope !== 'c3')).toEqual([]);
    expect(b.held.size).toBeGreaterThanOrEqual(7);
  });
});

describe('a hand-over', () => {
  test('of many scopes ends after sixteen times the time for one', async () => {
    const a = new Member('a', names(500));
    await advance(2_000);
    const b = new Member('b', names(500));
    // They start too late for the limit.
    b.startsAfterMs = () => 60_000;
    await advance(1);
    a.stop.abort();
    await advance(16 * (handoverMs + heartbeatMs));
    await a.running;
    expect(b.held.size).toBe(500);
  });

  test('waits until the next member works on the scopes', async () => {
    const a = new Member('a', names(16));
    await advance(2_000);
    const b = new Member('b', names(16));
    b.startsAfterMs = () => 500;
    await advance(400);
    expect([a.held.size, b.held.size]).toEqual([12, 4]);
    await advance(10_000);
    expect([a.held.size, b.held.size]).toEqual([8, 8]);
  });
});

describe('a member that leaves', () => {
  const both = async () => {
    const a = new Member('a', names(3));
    await advance(2_000);
    // One heartbeat comes between those of the other.
    const b = new Member('b', ['c0', 'c1']);
    await advance(5_000);
    const [scope] = [...a.held].filter((one) => one !== 'c2');
    if (scope === undefined) throw new Error('nothing to hand over');
    return { a, b, scope };
  };

  test('works on a scope until the next member is prepared for it, and not longer', async () => {
    const { a, b, scope } = await both();
    b.preparesAfterMs = 400;
    a.stop.abort();
    await advance(399);
    expect([...a.held]).toEqual([scope]);
    expect([...b.preparing]).toContain(scope);
    await advance(1);
    expect([...a.held]).toEqual([]);
    expect([...b.held].sort()).toEqual(['c0', 'c1']);
    await a.running;
  });

  test('stops at once what nobody else can serve', async () => {
    const { a, b, scope } = await both();
    b.preparesAfterMs = 400;
    a.stop.abort();
    await advance(1);
    expect([...a.held]).toEqual([scope]);
  });

  test.each(['is slow to prepare', 'has a version that does not prepare', 'is cut off from the store'])(
    'stops after a time if the next one %s',
    async (problem) => {
      const { a, b, scope } = await both();
      if (problem === 'is slow to prepare') b.preparesAfterMs = 10_000;
      if (problem.startsWith('has')) b.isOld = true;
      a.stop.abort();
      if (problem.startsWith('is cut')) b.unreachable = true;
      await advance(ttlMs - heartbeatMs);
      expect([...a.held]).toEqual([scope]);
      await advance(handoverMs - ttlMs + 2 * heartbeatMs);
      expect([...a.held]).toEqual([]);
      await a.running;
      b.unreachable = false;
      await advance(2 * heartbeatMs);
      expect([...b.held].sort()).toEqual(['c0', 'c1']);
    },
  );

  test('hands over to a third member when the next one dies before it is prepared', async () => {
    const { a, b, scope } = await both();
    b.preparesAfterMs = 10_000;
    a.stop.abort();
    await advance(1);
    b.unreachable = true;
    const c = new Member('c', ['c0', 'c1']);
    await advance(ttlMs + heartbeatMs + handoverMs);
    await a.running;
    expect([...c.held]).toContain(scope);
  });
});

test('a member that joins prepares the scopes that it gets, and their holder works on them meanwhile', async () => {
  const a = new Member('a', names(2));
  await advance(2_000);
  const b = new Member('b', names(2));
  b.preparesAfterMs = 500;
  await advance(499);
  expect([a.held.size, b.held.size, b.preparing.size]).toEqual([2, 0, 1]);
  await advance(1);
  expect([a.held.size, b.held.size]).toEqual([1, 1]);
  expect([...b.held]).toEqual([...b.preparing]);
});

describe('heartbeats', () => {
  test('are one for all scopes, and declare the same list while it stays', async () => {
    const a = new Member('a', names(300));
    await advance(5_000);
    const count = a.heartbeats.length;
    await advance(10 * heartbeatMs);
    expect(a.heartbeats.length - count).toBe(10);
    expect(new Set(a.heartbeats.slice(count).map(({ serves }) => serves)).size).toBe(1);
  });

  test('declare the first scope of a process at once', async () => {
    const a = new Member('a', []);
    await advance(10);
    a.serve('c0');
    await advance(1);
    expect([...a.held]).toEqual(['c0']);
  });

  test('that declare scopes one after the other are at least 50 ms apart', async () => {
    const a = new Member('a', []);
    await advance(2_000);
    const count = a.heartbeats.length;
    for (const scope of names(100)) {
      a.serve(scope);
      await advance(10);
    }
    expect(new Set(a.heartbeats.slice(count).map(({ serves }) => serves)).size).toBeLessThanOrEqual(1_000 / 50);
    await advance(100);
    expect(a.held.size).toBe(100);
  });
});
