import { VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { beforeEach, expect, test } from 'vitest';
import { LeaseRenewer } from './lease-renewer.ts';
import { RenewalCells } from './renewal-cells.ts';

const options = { group: 'writer', member: 'a', ttlMs: 900, periodMs: 250, maxSilenceMs: 5_000 };

let clock: VirtualClock;
let cells: RenewalCells;
let renewer: LeaseRenewer;
let renewed: { readonly at: number; readonly leases: readonly (readonly [string, number])[] }[];
let logged: string[];
/** What the store answers. */
let holdsAll: boolean;
/** Renewals of the group whose renewals get no answer. */
let hanging: number;

beforeEach(() => {
  clock = new VirtualClock(1_000);
  cells = new RenewalCells();
  [renewed, logged, holdsAll, hanging] = [[], [], true, 0];
  renewer = new LeaseRenewer({
    renew: async ({ group }, leases) => {
      if (group === 'hanging') {
        hanging++;
        return new Promise(() => {});
      }
      renewed.push({ at: clock.monotonic(), leases });
      return holdsAll;
    },
    clock,
    log: ({ message }) => void logged.push(message),
  });
  renewer.handle({ kind: 'start', id: 1, options, cells: cells.buffer });
  renewer.handle({ kind: 'hold', id: 1, leases: [['7', 42]] });
  cells.heartbeatAt = 1_000;
});

test('leases are renewed while the event loop is blocked, each time well before they expire', async () => {
  await advance(clock, 4_500);
  const times = renewed.map(({ at }) => at);
  expect(times[0]).toBeLessThanOrEqual(1_375);
  for (const [index, at] of times.entries()) expect(at - (times[index - 1] ?? at)).toBeLessThanOrEqual(375);
  expect(renewed[0]?.leases).toEqual([['7', 42]]);
  expect(cells.renewedAt).toBe(times.at(-1));
});

test('a block is noticed as early, whatever the thread last saw', async () => {
  for (const period of [1, 124, 126, 251, 374]) {
    for (let n = 0; n < 7; n++) {
      await advance(clock, period);
      cells.heartbeatAt = clock.monotonic();
    }
    const blockedAt = clock.monotonic();
    renewed = [];
    await advance(clock, 375);
    expect(renewed.map(({ at }) => at - blockedAt)).toEqual([375]);
  }
});

test('a failed renewal is tried again four times before the leases expire', async () => {
  holdsAll = false;
  await advance(clock, options.ttlMs - 1);
  expect(renewed.map(({ at }) => at - 1_000)).toEqual([375, 500, 625, 750, 875]);
});

test('a process whose heartbeats are not answered for too long loses its leases', async () => {
  await advance(clock, 60_000);
  expect(cells.renewedAt).toBeLessThanOrEqual(6_000);
  expect(logged).toEqual(['no heartbeat answered; leases are not renewed']);
  cells.heartbeatAt = clock.monotonic();
  await advance(clock, 500);
  expect(cells.renewedAt).toBeGreaterThan(61_000);
});

test('nothing is renewed while heartbeats arrive in time', async () => {
  for (let n = 0; n < 20; n++) {
    await advance(clock, 200);
    cells.heartbeatAt = clock.monotonic();
  }
  expect(renewed).toEqual([]);
});

test('nothing is renewed while each heartbeat takes a little more than a period', async () => {
  for (let n = 0; n < 400; n++) {
    await advance(clock, 251);
    cells.heartbeatAt = clock.monotonic();
  }
  expect(renewed).toEqual([]);
});

test('nothing is renewed or logged for a member that has not sent its first heartbeat', async () => {
  renewer.handle({ kind: 'stop', id: 1 });
  renewer.handle({ kind: 'start', id: 2, options, cells: new RenewalCells().buffer });
  await advance(clock, 60_000);
  expect(renewed).toEqual([]);
  expect(logged).toEqual([]);
});

test('a renewal that finds a lease lost does not count', async () => {
  holdsAll = false;
  await advance(clock, 3_000);
  expect(renewed.length).toBeGreaterThan(5);
  expect(cells.renewedAt).toBe(Number.NEGATIVE_INFINITY);
});

test('stop ends the renewals', async () => {
  renewer.handle({ kind: 'stop', id: 1 });
  await advance(clock, 3_000);
  expect(renewed).toEqual([]);
});

test('a renewal without an answer delays no other group, and is not sent again meanwhile', async () => {
  const other = new RenewalCells();
  renewer.handle({ kind: 'start', id: 2, options: { ...options, group: 'hanging' }, cells: other.buffer });
  other.heartbeatAt = 1_000;
  await advance(clock, 3_000);
  expect(hanging).toBe(1);
  expect(renewed.length).toBeGreaterThan(5);
});
