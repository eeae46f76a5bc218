import { seededRandom, VirtualClock } from '@sluice/runtime';
import { beforeEach, expect, test } from 'vitest';
import { PendingResyncs } from './pending-resyncs.ts';

let clock: VirtualClock;
let pending: PendingResyncs;

beforeEach(() => {
  clock = new VirtualClock(1_000_000);
  pending = new PendingResyncs({ clock, random: seededRandom(1) });
});

const keys = () => pending.takeDue().map(([key]) => key);

/** Times at which requests are sent within `ms`, relative to now. */
function sentWithin(ms: number, onSent: () => void = () => {}): number[] {
  const [start, sent]: [number, number[]] = [clock.now(), []];
  for (;;) {
    const { dueAt } = pending;
    if (dueAt === undefined || dueAt > start + ms) return sent;
    clock.skipTo(dueAt);
    if (keys().length === 0) continue;
    sent.push(clock.now() - start);
    onSent();
  }
}

test('a request is sent at once and repeated with growing pauses until it is answered', () => {
  pending.add('c/shop/a', 'unreadable');
  expect(pending.add('c/shop/a', 'unreadable')).toBe(false);
  const pauses = sentWithin(24 * 3_600_000).map((at, i, all) => at - (all[i - 1] ?? 0));
  expect(pauses[0]).toBe(0);
  for (const [i, pause] of pauses.slice(1).entries()) {
    const ceiling = Math.min(600_000, 1_000 * 2 ** i);
    expect(pause).toBeGreaterThanOrEqual(ceiling / 2);
    expect(pause).toBeLessThanOrEqual(ceiling);
  }
  pending.resolve('c/shop/a');
  expect(sentWithin(24 * 3_600_000)).toEqual([]);
});

test('a Service that fails again right after each answer is requested with growing pauses', () => {
  pending.add('c/shop/a', 'unreadable');
  const sent = sentWithin(3_600_000, () => {
    pending.resolve('c/shop/a');
    pending.add('c/shop/a', 'unreadable');
  });
  expect(sent.length).toBeLessThan(25);
});

test('the backoff of a Service resets after a while without problems', () => {
  pending.add('c/shop/a', 'unreadable');
  expect(keys()).toEqual(['c/shop/a']);
  pending.resolve('c/shop/a');
  clock.skipTo(clock.now() + 2_000);
  pending.add('c/shop/a', 'unreadable');
  expect(keys()).toEqual(['c/shop/a']);
});

test.each([
  ['continues within twice the last pause', 1.9, [1_000, 2_000]],
  ['starts again after twice the last pause', 2, [500, 1_000]],
])('the backoff %s', (_, pauses, [least = 0, most = 0]) => {
  pending.add('c/shop/a', 'unreadable');
  keys();
  const answeredAt = clock.now();
  const pauseMs = (pending.dueAt ?? 0) - answeredAt;
  pending.resolve('c/shop/a');
  clock.skipTo(answeredAt + pauses * pauseMs);
  pending.add('c/shop/a', 'unreadable');
  expect(keys()).toEqual(['c/shop/a']);
  const next = (pending.dueAt ?? 0) - clock.now();
  expect(next).toBeGreaterThan(least);
  expect(next).toBeLessThanOrEqual(most);
});

test('a new owner continues with a request at once', () => {
  pending.add('c/shop/a', 'unreadable');
  pending.add('c/shop/b', 'unreadable');
  sentWithin(60_000);
  pending.resolve('c/shop/b');
  const stored = pending.drainChanges().filter(({ value }) => value !== undefined);
  expect(stored).toEqual([
    { key: 'c/shop/a', field: 'resync', value: { reason: 'unreadable', attempts: expect.any(Number) } },
  ]);
  expect(pending.drainChanges()).toEqual([]);
  const next = new PendingResyncs({ clock, random: seededRandom(2) });
  for (const entry of stored) expect(next.load(entry)).toBe(true);
  expect(next.takeDue()).toEqual([['c/shop/a', 'unreadable']]);
  expect(next.dueAt).toBeGreaterThan(clock.now() + 10_000);
});

test('an answered request is removed from the store', () => {
  pending.add('c/shop/a', 'unreadable');
  pending.drainChanges();
  pending.resolve('c/shop/a');
  expect(pending.drainChanges()).toEqual([{ key: 'c/shop/a', field: 'resync', value: undefined }]);
});
