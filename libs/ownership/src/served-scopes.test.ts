import { aborted, seededRandom, silentLogger, sleep, VirtualClock } from '@sluice/runtime';
import { advance as advanceClock } from '@sluice/runtime/testing';
import { type Heartbeat, MemoryLeases } from '@sluice/store';
import { beforeEach, describe, expect, test } from 'vitest';
import type { HeldLease } from './holdings.ts';
import { isolationDelayMs } from './isolation.ts';
import { Ownership } from './ownership.ts';

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
  readonly late = new Set<string>();
  readonly heartbeats: Heartbeat[] = [];
  readonly stop = new AbortController();
  readonly running: Promise<void>;
  connected = true;
  unreachable = false;
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
          return leases.heartbeat(heartbeat);
        },
        leave: (...args) => leases.leave(...args),
        watch: (...args) => leases.watch(...args),
        state: (group) => leases.state(group),
      },
      isConnected: () => this.connected,
      onLate: (scopes) => {
        for (const scope of scopes) this.late.add(scope);
      },
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
    expect([...b.late]).not.toContain('c0');
  });

  test('prepare for the scopes that they acquire if the late member expires', async () => {
    const a = new Member('a', names(4));
    await advance(2_000);
    const b = new Member('b', ['c0', 'c1']);
    await advance(2_000);
    const ofA = [...a.held].filter((scope) => scope === 'c0' || scope === 'c1');
    a.unreachable = true;
    await advance(ttlMs - heartbeatMs / 2);
    expect([...b.late].sort()).toEqual(ofA.sort());
  });

  test('leave scopes to others when they are cut off from the bus only if others can serve some', async () => {
    const a = new Member('a', ['c0']);
    const b = new Member('b', ['c1']);
    await advance(2_000);
    a.connected = false;
    await advance(isolationDelayMs * 3);
    expect([...a.held]).toEqual(['c0']);
    b.serve('c0');
    await advance(isolationDelayMs * 3);
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
