import { aborted, seededRandom, silentLogger, VirtualClock } from '@sluice/runtime';
import { advance } from '@sluice/runtime/testing';
import { MemoryLeases } from '@sluice/store';
import { expect, test } from 'vitest';
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
