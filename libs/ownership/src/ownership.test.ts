import { randomInteger, seededRandom, silentLogger, VirtualClock } from '@sluice/runtime';
import { FencedError, type GroupState, type Heartbeat, type Leases, MemoryLeases } from '@sluice/store';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type HeldLease, Ownership } from './ownership.ts';

const scopes = Array.from({ length: 16 }, (_, i) => `p/${String(i).padStart(2, '0')}`);
const ttlMs = 900;
const heartbeatMs = 300;

let clock: VirtualClock;
let leases: MemoryLeases;
let members: Member[];

beforeEach(() => {
  clock = new VirtualClock(Date.UTC(2026, 0, 1));
  leases = new MemoryLeases(clock);
  members = [];
});

afterEach(async () => {
  for (const member of members) member.thaw();
  for (const member of members) member.stop.abort();
  await settle(60_000);
});

/** One process: its leases can be cut off, as if it were frozen or killed. */
class Member implements Leases {
  readonly name: string;
  readonly tenures: HeldLease[] = [];
  readonly stop = new AbortController();
  /** How long work takes to end, in milliseconds. */
  endsAfterMs = 0;
  fails: unknown;
  /** How long it takes to begin with a scope, in milliseconds. */
  beginsAfterMs = 0;
  away = false;
  /** As many heartbeats give nothing back: the store loses that. */
  lost = 0;
  running: Promise<void>;
  #frozen: PromiseWithResolvers<void> | undefined;

  constructor(name: string) {
    this.name = name;
    const options = { leases: this, group: 'g', member: name, scopes, ttlMs, heartbeatMs, clock };
    const ports = { random: seededRandom(1), logger: silentLogger };
    this.running = new Ownership({ ...options, ...ports, work: (tenure) => this.#work(tenure) }).run(this.stop.signal);
    members.push(this);
  }

  get works(): string[] {
    return this.tenures.filter((tenure) => tenure.isCurrent() && !tenure.signal.aborted).map(({ scope }) => scope);
  }

  freeze(): void {
    this.#frozen ??= Promise.withResolvers();
  }

  thaw(): void {
    this.#frozen?.resolve();
    this.#frozen = undefined;
  }

  async heartbeat(heartbeat: Heartbeat): Promise<GroupState> {
    await this.#frozen?.promise;
    if (this.away) throw new Error('the store is away');
    const release = this.lost-- > 0 ? [] : heartbeat.release;
    return leases.heartbeat({ ...heartbeat, release });
  }

  leave(group: string, member: string): Promise<void> {
    return leases.leave(group, member);
  }

  state(group: string) {
    return leases.state(group);
  }

  watch(group: string, onChange: () => void): () => void {
    return leases.watch(group, onChange);
  }

  async #work(tenure: HeldLease): Promise<void> {
    this.tenures.push(tenure);
    if (this.fails !== undefined) throw this.fails;
    if (this.beginsAfterMs > 0) clock.schedule(this.beginsAfterMs, tenure.started);
    else tenure.started();
    if (!tenure.signal.aborted) {
      await new Promise((resolve) => tenure.signal.addEventListener('abort', resolve, { once: true }));
    }
    if (this.endsAfterMs > 0) await new Promise<void>((resolve) => void clock.schedule(this.endsAfterMs, resolve));
    this.tenures.splice(this.tenures.indexOf(tenure), 1);
  }
}

async function settle(ms = 0): Promise<void> {
  const until = clock.now() + ms;
  do await new Promise((resolve) => setImmediate(resolve));
  while (clock.step(until));
}

const all = () => members.flatMap((member) => member.works);
const allHeldOnce = () => expect(all().sort()).toEqual(scopes);

describe('a group', () => {
  test('of one holds everything at once', async () => {
    new Member('a');
    await settle();
    allHeldOnce();
  });

  test('shares evenly with one who comes, at once', async () => {
    const a = new Member('a');
    await settle();
    const b = new Member('b');
    await settle();
    allHeldOnce();
    expect([a.works.length, b.works.length]).toEqual([8, 8]);
  });

  test('of one who goes takes over at once, as soon as its work has ended', async () => {
    const a = new Member('a');
    new Member('b');
    await settle();
    a.endsAfterMs = 50;
    a.stop.abort();
    await settle(110);
    allHeldOnce();
    await a.running;
  });

  test('of one who goes takes over what has ended before the rest has', async () => {
    const a = new Member('a');
    await settle();
    const b = new Member('b');
    await settle();
    const [slow] = a.tenures;
    a.stop.abort();
    await settle();
    expect(slow).toBeDefined();
    expect(b.works.length).toBe(16);
  });

  test('of one who goes takes over a few at a time; the others are worked on meanwhile', async () => {
    const a = new Member('a');
    const b = new Member('b');
    await settle();
    a.endsAfterMs = 50;
    a.stop.abort();
    await settle(49);
    expect([a.works.length, b.works.length]).toEqual([4, 8]);
    await settle(50);
    expect([a.works.length, b.works.length]).toEqual([0, 12]);
    await settle(60);
    allHeldOnce();
    await a.running;
  });

  test('of one who goes waits until the others have begun with what they took', async () => {
    const a = new Member('a');
    const b = new Member('b');
    await settle();
    b.beginsAfterMs = 50;
    a.stop.abort();
    await settle(49);
    expect([a.works.length, b.works.length]).toEqual([4, 12]);
    await settle(1);
    expect([a.works.length, b.works.length]).toEqual([0, 16]);
    await a.running;
  });

  test('waits in vain for one who takes nothing, and hands over all the same', async () => {
    const a = new Member('a');
    const b = new Member('b');
    await settle();
    b.freeze();
    a.stop.abort();
    await settle(heartbeatMs);
    expect(a.works.length).toBeLessThan(8);
    await settle(ttlMs);
    await a.running;
    b.thaw();
    await settle(2 * heartbeatMs);
    allHeldOnce();
  });

  test('of one ends at once when it goes', async () => {
    const a = new Member('a');
    await settle();
    a.stop.abort();
    await settle();
    expect(a.works).toEqual([]);
    await a.running;
  });

  test('takes over from one who died after its leases have run out', async () => {
    const a = new Member('a');
    const b = new Member('b');
    await settle();
    a.freeze();
    await settle(ttlMs + heartbeatMs + 1);
    expect(b.works.sort()).toEqual(scopes);
    expect(a.works).toEqual([]);
  });

  test('gives a new epoch to what changes hands', async () => {
    const a = new Member('a');
    await settle();
    const before = new Map(a.tenures.map(({ scope, fencingToken }) => [scope, fencingToken]));
    a.freeze();
    await settle(5_000);
    const b = new Member('b');
    await settle();
    for (const { scope, fencingToken } of b.tenures) expect(fencingToken).toBeGreaterThan(before.get(scope) ?? 0);
  });
});

describe('one who was frozen', () => {
  test('can no longer be sure from the end of its lease on, and its work is stopped when it wakes', async () => {
    const a = new Member('a');
    await settle();
    const old = [...a.tenures];
    a.freeze();
    await settle(ttlMs - heartbeatMs - 1);
    expect(old.every((tenure) => tenure.isCurrent())).toBe(true);
    await settle(heartbeatMs + 2);
    expect(old.some((tenure) => tenure.isCurrent())).toBe(false);
    new Member('b');
    await settle(heartbeatMs);
    a.thaw();
    await settle();
    expect(old.every(({ signal, isCurrent }) => signal.aborted && !isCurrent())).toBe(true);
    await settle(heartbeatMs);
    allHeldOnce();
  });

  test('with nobody else there, begins anew: an old tenure never comes back to life', async () => {
    const a = new Member('a');
    await settle();
    const old = [...a.tenures];
    a.freeze();
    await settle(5_000);
    a.thaw();
    await settle(heartbeatMs);
    allHeldOnce();
    expect(old.some((tenure) => tenure.isCurrent())).toBe(false);
  });
});

describe('a store that is away', () => {
  test('for less than the lease changes nothing; for longer, work stops and starts again', async () => {
    const a = new Member('a');
    await settle();
    const old = [...a.tenures];
    a.away = true;
    await settle(ttlMs - heartbeatMs - 1);
    a.away = false;
    await settle(heartbeatMs);
    expect(a.tenures).toEqual(old);
    a.away = true;
    await settle(2 * ttlMs);
    expect(a.works).toEqual([]);
    a.away = false;
    await settle(heartbeatMs);
    allHeldOnce();
  });
});

describe('a store that was put back', () => {
  test('and has somebody hold again what he gave back: nobody works under an epoch that is over', async () => {
    const a = new Member('a');
    a.lost = 9;
    a.fails = new FencedError('commits were lost');
    await settle(60_000);
    const epochs = a.tenures.flatMap(({ scope, fencingToken }) => (scope === scopes[0] ? [fencingToken] : []));
    expect(epochs.length).toBeGreaterThan(1);
    expect(new Set(epochs).size).toBe(epochs.length);
    a.fails = undefined;
    a.tenures.length = 0;
    await settle(60_000);
    allHeldOnce();
  });
});

describe('work that fails', () => {
  test.each([
    ['fenced', new FencedError('commits were lost')],
    ['broken', new Error('no')],
  ])('(%s) is begun anew under a new epoch, more and more slowly', async (_, error) => {
    const a = new Member('a');
    a.fails = error;
    await settle(60_000);
    const epochs = a.tenures.flatMap(({ scope, fencingToken }) => (scope === scopes[0] ? [fencingToken] : []));
    expect(epochs).toEqual([...epochs].sort());
    expect(new Set(epochs).size).toBe(epochs.length);
    expect(epochs.length).toBeGreaterThan(4);
    expect(epochs.length).toBeLessThan(15);
    a.fails = undefined;
    a.tenures.length = 0;
    await settle(60_000);
    allHeldOnce();
  });
});

describe('whatever happens to a group', () => {
  const seeds =
    process.env.SEED === undefined ? Array.from({ length: 30 }, (_, i) => i + 1) : [Number(process.env.SEED)];

  test.each(seeds)('no scope has two owners at a time, and in the end each has one (seed %i)', async (seed) => {
    const random = seededRandom(seed);
    let names = 0;
    for (let step = 0; step < 60; step++) {
      const alive = members.filter(({ stop }) => !stop.signal.aborted);
      const some = alive[randomInteger(random, 0, Math.max(0, alive.length - 1))];
      const dice = random.next();
      if (alive.length < 2 || (dice < 0.2 && alive.length < 6)) new Member(`m${names++}`).endsAfterMs = 20;
      else if (dice < 0.4) some?.freeze();
      else if (dice < 0.6) some?.thaw();
      else if (dice < 0.7) some?.stop.abort();
      else if (some !== undefined && dice < 0.8) some.away = !some.away;
      for (let n = 0; n < 8; n++) {
        await settle(randomInteger(random, 1, 150));
        const held = all();
        expect(new Set(held).size, `seed ${seed}`).toBe(held.length);
      }
    }
    for (const member of members) {
      member.thaw();
      member.away = false;
    }
    await settle(60_000);
    allHeldOnce();
  });
});
