import {
  aborted,
  type LogFields,
  type Logger,
  randomInteger,
  seededRandom,
  silentLogger,
  VirtualClock,
} from '@sluice/platform';
import { advance as advanceClock } from '@sluice/platform/testing';
import { FencedError, type GroupState, type Heartbeat, type Leases, MemoryLeases } from '@sluice/store';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { HeldLease } from './holdings.ts';
import { Ownership } from './ownership.ts';
import { giveUpMs, provenMs } from './progress.ts';

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
  await advance(60_000);
});

/** One process whose heartbeats can hang or fail, as if it were frozen or cut off from the store. */
class Member implements Leases {
  readonly name: string;
  readonly heldLeases: HeldLease[] = [];
  readonly stop = new AbortController();
  /** How long work takes to stop, in milliseconds. */
  stopsAfterMs = 0;
  /** Work rejects with this error. */
  workError: unknown;
  /** How long work on a scope takes to start, in milliseconds. */
  startsAfterMs = 0;
  storeUnreachable = false;
  connected = true;
  /** Number of heartbeats whose releases the store loses. */
  lostReleases = 0;
  /** Monotonic time of the last heartbeat. */
  renewedAt = 0;
  running: Promise<void>;
  #frozen: PromiseWithResolvers<void> | undefined;

  constructor(name: string) {
    this.name = name;
    const options = { leases: this, group: 'g', member: name, scopes, ttlMs, heartbeatMs, clock };
    const stalled = () => (this.connected ? [] : ['*bus']);
    const ports = { random: seededRandom(1), logger: silentLogger };
    this.running = new Ownership({ ...options, ...ports, stalled, work: (lease) => this.#work(lease) }).run(
      this.stop.signal,
    );
    members.push(this);
  }

  get scopes(): string[] {
    return this.heldLeases.filter((lease) => lease.isCurrent() && !lease.signal.aborted).map(({ scope }) => scope);
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
    if (this.storeUnreachable) throw new Error('store unreachable');
    this.renewedAt = clock.monotonic();
    const release = this.lostReleases-- > 0 ? [] : heartbeat.release;
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

  async #work(lease: HeldLease): Promise<void> {
    this.heldLeases.push(lease);
    if (this.workError !== undefined) throw this.workError;
    if (this.startsAfterMs > 0) clock.schedule(this.startsAfterMs, lease.started);
    else lease.started();
    if (!lease.signal.aborted) {
      await new Promise((resolve) => lease.signal.addEventListener('abort', resolve, { once: true }));
    }
    if (this.stopsAfterMs > 0) await new Promise<void>((resolve) => void clock.schedule(this.stopsAfterMs, resolve));
    this.heldLeases.splice(this.heldLeases.indexOf(lease), 1);
  }
}

const advance = (ms = 0) => advanceClock(clock, ms);

const allScopes = () => members.flatMap((member) => member.scopes);
const allHeldOnce = () => expect(allScopes().sort()).toEqual(scopes);

describe('a group', () => {
  test('with one member holds every scope after the first heartbeat', async () => {
    new Member('a');
    await advance();
    allHeldOnce();
  });

  test('shares evenly with a joining member within one heartbeat', async () => {
    const a = new Member('a');
    await advance();
    const b = new Member('b');
    await advance();
    allHeldOnce();
    expect([a.scopes.length, b.scopes.length]).toEqual([8, 8]);
  });

  test('takes over from a leaving member as soon as its work has stopped', async () => {
    const a = new Member('a');
    new Member('b');
    await advance();
    a.stopsAfterMs = 50;
    a.stop.abort();
    await advance(110);
    allHeldOnce();
    await a.running;
  });

  test('takes over stopped scopes while a leaving member still works on others', async () => {
    const a = new Member('a');
    await advance();
    const b = new Member('b');
    await advance();
    const [slow] = a.heldLeases;
    a.stop.abort();
    await advance();
    expect(slow).toBeDefined();
    expect(b.scopes.length).toBe(16);
  });

  test('takes over from a leaving member a few scopes at a time while it works on the rest', async () => {
    const a = new Member('a');
    const b = new Member('b');
    await advance();
    a.stopsAfterMs = 50;
    a.stop.abort();
    await advance(49);
    expect([a.scopes.length, b.scopes.length]).toEqual([4, 8]);
    await advance(50);
    expect([a.scopes.length, b.scopes.length]).toEqual([0, 12]);
    await advance(60);
    allHeldOnce();
    await a.running;
  });

  test('waits with the next scopes of a leaving member until the previous ones have started', async () => {
    const a = new Member('a');
    const b = new Member('b');
    await advance();
    b.startsAfterMs = 50;
    a.stop.abort();
    await advance(49);
    expect([a.scopes.length, b.scopes.length]).toEqual([4, 12]);
    await advance(1);
    expect([a.scopes.length, b.scopes.length]).toEqual([0, 16]);
    await a.running;
  });

  test('completes a hand-over even if the other member acquires nothing', async () => {
    const a = new Member('a');
    const b = new Member('b');
    await advance();
    b.freeze();
    a.stop.abort();
    await advance(heartbeatMs);
    expect(a.scopes.length).toBeLessThan(8);
    await advance(ttlMs);
    await a.running;
    b.thaw();
    await advance(2 * heartbeatMs);
    allHeldOnce();
  });

  test('with one member stops all work at once when it leaves', async () => {
    const a = new Member('a');
    await advance();
    a.stop.abort();
    await advance();
    expect(a.scopes).toEqual([]);
    await a.running;
  });

  test('takes over from a crashed member after its leases have expired', async () => {
    const a = new Member('a');
    const b = new Member('b');
    await advance();
    a.freeze();
    await advance(ttlMs + heartbeatMs + 1);
    expect(b.scopes.sort()).toEqual(scopes);
    expect(a.scopes).toEqual([]);
  });

  test.each([0, 50, 150, 250])(
    'takes over when the leases expire, not a heartbeat later (%i ms apart)',
    async (apart) => {
      const a = new Member('a');
      const b = new Member('b');
      await advance(5_000);
      // Their heartbeats are sent together until one is late.
      b.freeze();
      await advance(heartbeatMs + apart);
      b.thaw();
      await advance(2 * heartbeatMs);
      a.freeze();
      await advance(a.renewedAt + ttlMs + 3 - clock.monotonic());
      expect(b.scopes.sort()).toEqual(scopes);
    },
  );

  test('assigns a higher fencing token to a scope with a new holder', async () => {
    const a = new Member('a');
    await advance();
    const before = new Map(a.heldLeases.map(({ scope, fencingToken }) => [scope, fencingToken]));
    a.freeze();
    await advance(5_000);
    const b = new Member('b');
    await advance();
    for (const { scope, fencingToken } of b.heldLeases) expect(fencingToken).toBeGreaterThan(before.get(scope) ?? 0);
  });
});

describe('a frozen member', () => {
  test('no longer considers its leases current after they expire, and stops work when it wakes', async () => {
    const a = new Member('a');
    await advance();
    const old = [...a.heldLeases];
    a.freeze();
    await advance(ttlMs - heartbeatMs - 1);
    expect(old.every((lease) => lease.isCurrent())).toBe(true);
    await advance(heartbeatMs + 2);
    expect(old.some((lease) => lease.isCurrent())).toBe(false);
    new Member('b');
    await advance(heartbeatMs);
    a.thaw();
    await advance();
    expect(old.every(({ signal, isCurrent }) => signal.aborted && !isCurrent())).toBe(true);
    await advance(heartbeatMs);
    allHeldOnce();
  });

  test('acquires new leases when it is alone: an expired lease never becomes current again', async () => {
    const a = new Member('a');
    await advance();
    const old = [...a.heldLeases];
    a.freeze();
    await advance(5_000);
    a.thaw();
    await advance(heartbeatMs);
    allHeldOnce();
    expect(old.some((lease) => lease.isCurrent())).toBe(false);
  });
});

describe('an unreachable store', () => {
  test('has no effect for less than the TTL; after that, work stops, and starts again when it is back', async () => {
    const a = new Member('a');
    await advance();
    const old = [...a.heldLeases];
    a.storeUnreachable = true;
    await advance(ttlMs - heartbeatMs - 1);
    a.storeUnreachable = false;
    await advance(heartbeatMs);
    expect(a.heldLeases).toEqual(old);
    a.storeUnreachable = true;
    await advance(2 * ttlMs);
    expect(a.scopes).toEqual([]);
    a.storeUnreachable = false;
    await advance(heartbeatMs);
    allHeldOnce();
  });

  test('does not keep a member that stops for longer than its leases last, although its work waits for the store', async () => {
    const a = new Member('a');
    await advance();
    a.stopsAfterMs = 60_000;
    a.storeUnreachable = true;
    let stopped = false;
    void a.running.then(() => {
      stopped = true;
    });
    a.stop.abort();
    await advance(ttlMs - heartbeatMs);
    expect(stopped).toBe(false);
    await advance(2 * heartbeatMs);
    expect(stopped).toBe(true);
  });
});

describe('a store that loses releases', () => {
  test('returns released leases, and the member does not work under a fencing token it has released', async () => {
    const a = new Member('a');
    a.lostReleases = 9;
    a.workError = new FencedError('commits were lost');
    await advance(60_000);
    const fencingTokens = a.heldLeases.flatMap(({ scope, fencingToken }) =>
      scope === scopes[0] ? [fencingToken] : [],
    );
    expect(fencingTokens.length).toBeGreaterThan(1);
    expect(new Set(fencingTokens).size).toBe(fencingTokens.length);
    a.workError = undefined;
    a.heldLeases.length = 0;
    await advance(60_000);
    allHeldOnce();
  });
});

describe('failing work', () => {
  test.each([
    ['fenced', new FencedError('commits were lost')],
    ['failed', new Error('work failed')],
  ])('(%s) starts again under a new fencing token, with backoff', async (_, error) => {
    const a = new Member('a');
    a.workError = error;
    await advance(60_000);
    const fencingTokens = a.heldLeases.flatMap(({ scope, fencingToken }) =>
      scope === scopes[0] ? [fencingToken] : [],
    );
    expect(fencingTokens).toEqual([...fencingTokens].sort());
    expect(new Set(fencingTokens).size).toBe(fencingTokens.length);
    expect(fencingTokens.length).toBeGreaterThan(4);
    expect(fencingTokens.length).toBeLessThan(15);
    a.workError = undefined;
    a.heldLeases.length = 0;
    await advance(60_000);
    allHeldOnce();
  });
});

describe('random joins, leaves, freezes and store outages', () => {
  const seeds =
    process.env.SEED === undefined ? Array.from({ length: 30 }, (_, i) => i + 1) : [Number(process.env.SEED)];

  test.each(seeds)('no scope has two owners at a time, and eventually each has one (seed %i)', async (seed) => {
    const random = seededRandom(seed);
    let names = 0;
    for (let step = 0; step < 60; step++) {
      const alive = members.filter(({ stop }) => !stop.signal.aborted);
      const some = alive[randomInteger(random, 0, Math.max(0, alive.length - 1))];
      const dice = random.next();
      if (alive.length < 2 || (dice < 0.2 && alive.length < 6)) new Member(`m${names++}`).stopsAfterMs = 20;
      else if (dice < 0.4) some?.freeze();
      else if (dice < 0.6) some?.thaw();
      else if (dice < 0.7) some?.stop.abort();
      else if (some !== undefined && dice < 0.8) some.storeUnreachable = !some.storeUnreachable;
      for (let n = 0; n < 8; n++) {
        await advance(randomInteger(random, 1, 150));
        const held = allScopes();
        expect(new Set(held).size, `seed ${seed}`).toBe(held.length);
      }
    }
    for (const member of members) {
      member.thaw();
      member.storeUnreachable = false;
    }
    await advance(60_000);
    allHeldOnce();
  });
});

describe('heartbeats', () => {
  test('of all groups of a process are sent at the same moments', async () => {
    const first = new Member('a');
    await advance(70);
    const second = new Member('b');
    await advance(5 * heartbeatMs);
    expect(second.renewedAt).toBe(first.renewedAt);
    expect(first.renewedAt % heartbeatMs).toBe(0);
  });

  test.each([1, 29, 31, 150, 269, 271, 299])(
    'follow each other within little more than a period if something wakes the member %i ms after one',
    async (ms) => {
      const member = new Member('a');
      await advance(5 * heartbeatMs);
      const sentAt = [member.renewedAt];
      clock.schedule(member.renewedAt + heartbeatMs + ms - clock.monotonic(), () => void new Member('b'));
      for (let waited = 0; waited < 5 * heartbeatMs; waited++) {
        await advance(1);
        if (member.renewedAt !== sentAt.at(-1)) sentAt.push(member.renewedAt);
      }
      const gaps = sentAt.slice(1).map((at, i) => at - (sentAt[i] ?? at));
      expect(gaps.length).toBeGreaterThan(4);
      expect(Math.max(...gaps)).toBeLessThanOrEqual(1.1 * heartbeatMs);
    },
  );
});

test('logs one line for all leases acquired in one heartbeat, and who held them before', async () => {
  const lines: string[] = [];
  const info = (message: string, fields: LogFields = {}) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const first = new Member('first');
  await advance(2_000);
  first.freeze();
  const stop = new AbortController();
  const options = { leases, group: 'g', member: 'second', scopes, ttlMs, heartbeatMs, clock, random: seededRandom(1) };
  const logger: Logger = { ...silentLogger, info };
  const work = ({ signal, started }: HeldLease) => {
    started();
    return aborted(signal);
  };
  const running = new Ownership({ ...options, logger, work }).run(stop.signal);
  await advance(10_000);
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.length).toBeLessThan(scopes.length);
  expect(lines[0]).toMatch(/^leases acquired .*"held":\d+,"from":"first"/);
  stop.abort();
  await advance(10_000);
  await running;
});

describe('a member that cannot reach the bus', () => {
  const isolationMs = giveUpMs + 2 * heartbeatMs + 2 * ttlMs;

  async function threeMembers(): Promise<readonly [Member, Member, Member]> {
    const three = [new Member('a'), new Member('b'), new Member('c')] as const;
    await advance(10_000);
    allHeldOnce();
    expect(three.every((member) => member.scopes.length > 0)).toBe(true);
    return three;
  }

  test('leaves its scopes to members that can, and takes its share again when it is back', async () => {
    const [a] = await threeMembers();
    a.connected = false;
    await advance(isolationMs);
    expect(a.scopes).toEqual([]);
    allHeldOnce();
    a.connected = true;
    await advance(provenMs + 10_000);
    allHeldOnce();
    expect(a.scopes.length).toBeGreaterThanOrEqual(4);
  });

  test('keeps its fair share after an outage for all in which others joined', async () => {
    const a = new Member('a');
    await advance(10_000);
    a.connected = false;
    const b = new Member('b');
    b.connected = false;
    await advance(30_000);
    allHeldOnce();
    const held = [...a.scopes].sort();
    expect(held.length).toBe(scopes.length / 2);
    const tokens = a.heldLeases.map(({ scope, fencingToken }) => [scope, fencingToken]);
    a.connected = true;
    b.connected = true;
    await advance(30_000);
    expect(a.heldLeases.map(({ scope, fencingToken }) => [scope, fencingToken])).toEqual(tokens);
  });

  test('leaves them although its work, which waits for the bus, does not stop', async () => {
    const [a] = await threeMembers();
    const stuck = [...a.heldLeases];
    a.stopsAfterMs = 120_000;
    a.connected = false;
    await advance(isolationMs);
    expect(stuck.some((lease) => lease.isCurrent())).toBe(false);
    allHeldOnce();
    a.connected = true;
    await advance(provenMs + 10_000);
    const stuckScopes = stuck.map(({ scope }) => scope);
    expect(a.scopes.filter((scope) => stuckScopes.includes(scope))).toEqual([]);
    a.stopsAfterMs = 0;
    await advance(200_000);
    allHeldOnce();
    expect(a.scopes.length).toBeGreaterThanOrEqual(4);
  });

  test('keeps them while nobody can, and when it is alone', async () => {
    const three = await threeMembers();
    const before = three.map((member) => member.heldLeases.map(({ scope, fencingToken }) => [scope, fencingToken]));
    // They notice the outage and its end one after the other, as clients do.
    for (const connected of [false, true]) {
      for (const member of three) {
        member.connected = connected;
        await advance(giveUpMs / 4);
      }
      await advance(connected ? 30_000 : 120_000);
    }
    const after = three.map((member) => member.heldLeases.map(({ scope, fencingToken }) => [scope, fencingToken]));
    expect(after).toEqual(before);
    const [a, b, c] = three;
    b.stop.abort();
    c.stop.abort();
    await advance(10_000);
    a.connected = false;
    await advance(isolationMs);
    expect(a.scopes.sort()).toEqual(scopes);
  });
});
