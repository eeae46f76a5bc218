import { aborted, seededRandom, silentLogger, sleep, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { MemoryLeases } from '@sluice/store';
import { describe, expect, test } from 'vitest';
import { startWithinMs } from './holdings.ts';
import { Ownership } from './ownership.ts';

const scopes = ['0', '1', '2', '3'];

function group() {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  const leases = new MemoryLeases(clock);
  let attempts = 0;
  const start = (member: string, fails: () => boolean) => {
    const worked = new Set<string>();
    void new Ownership({
      ...{ leases, group: 'reconciler', member, scopes, ttlMs: 900, heartbeatMs: 250, clock },
      ...{ random: seededRandom(1), logger: silentLogger },
      work: async ({ scope, signal, started }) => {
        if (fails()) {
          attempts++;
          throw new Error('cannot claim the scope');
        }
        worked.add(scope);
        started();
        await aborted(signal);
        worked.delete(scope);
      },
    }).run(new AbortController().signal);
    return worked;
  };
  return { clock, start, attempts: () => attempts };
}

test('a member on which the work always fails leaves it to another one, and tries it ever more rarely', async () => {
  const { clock, start, attempts } = group();
  const b = start('b', () => false);
  await advance(clock, 10_000);
  expect(b.size).toBe(4);
  start('a', () => true);
  await advance(clock, 60 * 60_000);
  expect([...b].sort()).toEqual(scopes);
  expect(attempts()).toBeLessThan(60);
});

test('a member whose work has failed gets its share again', async () => {
  const { clock, start } = group();
  let fails = true;
  const b = start('b', () => false);
  await advance(clock, 5_000);
  const a = start('a', () => fails);
  await advance(clock, 30_000);
  expect([a.size, b.size]).toEqual([0, 4]);
  fails = false;
  await advance(clock, 60_000);
  expect([a.size, b.size]).toEqual([2, 2]);
});

test('while the work fails on all members, each of them tries it', async () => {
  const { clock, start, attempts } = group();
  const down = () => clock.now() < Date.UTC(2026, 0, 1, 0, 10);
  const [a, b] = [start('a', down), start('b', down)];
  await advance(clock, 10 * 60_000);
  expect(attempts()).toBeGreaterThan(40);
  await advance(clock, 60_000);
  expect([...a, ...b].sort()).toEqual(scopes);
});

describe('a member on which work never starts', () => {
  /** Work that reports its start after `startMs`. */
  function startGroup() {
    const clock = new VirtualClock(Date.UTC(2026, 0, 1));
    const leases = new MemoryLeases(clock);
    let attempts = 0;
    const start = (member: string, startMs: () => number, stalled: () => readonly string[] = () => []) =>
      void new Ownership({
        ...{ leases, group: 'watcher', member, scopes, ttlMs: 900, heartbeatMs: 250, clock, stalled },
        ...{ random: seededRandom(1), logger: silentLogger },
        work: async ({ signal, started }) => {
          attempts++;
          await sleep(clock, startMs(), signal);
          if (!signal.aborted) started();
          await aborted(signal);
        },
      }).run(new AbortController().signal);
    const held = async () => {
      const { leases: all } = await leases.state('watcher');
      return all.filter(({ started }) => started).map(({ holder, scope }) => `${holder}${scope}`);
    };
    return { clock, start, held, attempts: () => attempts };
  }

  test('leaves it to another one, and tries it ever more rarely', async () => {
    const { clock, start, held } = startGroup();
    start('a', () => Number.MAX_SAFE_INTEGER);
    await advance(clock, startWithinMs / 2);
    start('b', () => 1_000);
    await advance(clock, 4 * startWithinMs);
    expect((await held()).sort()).toEqual(['b0', 'b1', 'b2', 'b3']);
    let [missing, samples] = [0, 0];
    for (; samples < 600; samples++) {
      await advance(clock, startWithinMs / 4);
      missing += scopes.length - (await held()).length;
    }
    expect(missing).toBeLessThan((samples * scopes.length) / 10);
  });

  test('keeps it while another reason holds it up', async () => {
    const { clock, start, attempts } = startGroup();
    let outage: readonly string[] = ['*bus'];
    const members = ['a', 'b'];
    for (const member of members) {
      const stalled = () => outage;
      start(member, () => Number.MAX_SAFE_INTEGER, stalled);
      await advance(clock, 5_000);
    }
    const before = attempts();
    await advance(clock, 5 * startWithinMs);
    outage = [];
    await advance(clock, startWithinMs / 2);
    expect(attempts()).toBe(before);
    await advance(clock, startWithinMs);
    expect(attempts()).toBeGreaterThan(before);
  });

  test('starts in the end if it only takes long, wherever that is', async () => {
    const { clock, start, held } = startGroup();
    for (const member of ['a', 'b']) start(member, () => 2.5 * startWithinMs);
    await advance(clock, 8 * startWithinMs);
    expect(await held()).toHaveLength(4);
  });
});

test('a member that leaves gives up what it makes no progress on, although its work does not stop', async () => {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  const leases = new MemoryLeases(clock);
  const leave = new AbortController();
  let connected = true;
  const start = (member: string, signal: AbortSignal, waits: boolean) => {
    const worked = new Set<string>();
    void new Ownership({
      ...{ leases, group: 'writer', member, scopes, ttlMs: 900, heartbeatMs: 250, clock },
      ...{ random: seededRandom(1), logger: silentLogger },
      stalled: () => (connected || !waits ? [] : ['*bus']),
      work: async ({ scope, signal: lost, started }) => {
        worked.add(scope);
        started();
        await (waits ? new Promise(() => {}) : aborted(lost));
        worked.delete(scope);
      },
    }).run(signal);
    return worked;
  };
  start('a', leave.signal, true);
  await advance(clock, 1_000);
  connected = false;
  leave.abort();
  const b = start('b', new AbortController().signal, false);
  await advance(clock, 5_000);
  expect([...b].sort()).toEqual(scopes);
});
