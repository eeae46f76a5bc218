import { seededRandom, VirtualClock } from '@sluice/platform';
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
  expect(pending.add('c/shop/a', 'unreadable')).toBe(true);
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

test('an answer without a request changes nothing', () => {
  pending.resolve('c/shop/a');
  expect(pending.drainChanges()).toEqual([]);
  expect(pending.dueAt).toBeUndefined();
  pending.add('c/shop/a', 'unreadable');
  pending.resolve('c/shop/a');
  pending.drainChanges();
  pending.resolve('c/shop/a');
  expect(pending.drainChanges()).toEqual([]);
});

test('a request in vain is due after each pause, and then only the answered one is forgotten', () => {
  pending.add('c/shop/a', 'unreadable');
  pending.add('c/shop/b', 'unreadable');
  expect(pending.dueAt).toBe(clock.now());
  keys();
  const pauseMs = (pending.dueAt ?? 0) - clock.now();
  pending.resolve('c/shop/a');
  clock.skipTo(clock.now() + 2 * pauseMs + 2_000);
  expect(keys()).toEqual(['c/shop/b']);
  pending.drainChanges();
  pending.add('c/shop/a', 'again');
  expect(pending.takeDue()).toEqual([['c/shop/a', 'again']]);
});

test('a repeated request has the reason of its last failure', () => {
  pending.add('c/shop/a', 'unreadable');
  keys();
  pending.resolve('c/shop/a');
  expect(pending.add('c/shop/a', 'mismatch')).toBe(true);
  clock.skipTo(clock.now() + 10_000);
  expect(pending.takeDue()).toEqual([['c/shop/a', 'mismatch']]);
  expect(pending.drainChanges()).toEqual([
    { key: 'c/shop/a', field: 'resync', value: { reason: 'mismatch', attempts: 2 } },
  ]);
});

test('removed requests are not sent, and are removed from the store', () => {
  for (const key of ['c/shop/a', 'd/shop/a']) pending.add(key, 'unreadable');
  pending.drainChanges();
  pending.remove((key) => key.startsWith('c/'));
  expect(pending.drainChanges()).toEqual([{ key: 'c/shop/a', field: 'resync', value: undefined }]);
  expect(keys()).toEqual(['d/shop/a']);
  pending.remove(() => true);
  expect(pending.dueAt).toBeUndefined();
});

test('each request is stored with the number of requests so far', () => {
  pending.add('c/shop/a', 'unreadable');
  expect(pending.drainChanges()).toMatchObject([{ value: { attempts: 0 } }]);
  for (let attempts = 1; attempts < 4; attempts++) {
    keys();
    expect(pending.drainChanges()).toMatchObject([{ value: { attempts } }]);
    clock.skipTo(pending.dueAt ?? 0);
  }
});

test('an answered request is remembered for twice its pause', () => {
  pending.add('c/shop/a', 'unreadable');
  keys();
  const pauseMs = (pending.dueAt ?? 0) - clock.now();
  clock.skipTo(clock.now() + 100);
  pending.resolve('c/shop/a');
  expect(pending.dueAt).toBe(clock.now() + 2 * pauseMs);
  clock.skipTo(clock.now() + 2 * pauseMs);
  expect(keys()).toEqual([]);
  expect(pending.dueAt).toBeUndefined();
});

test('a stored attempt counts for the next pause', () => {
  const field = 'resync';
  pending.load({ key: 'c/shop/a', field, value: { reason: 'unreadable', attempts: 5 } });
  expect(keys()).toEqual(['c/shop/a']);
  expect(pending.dueAt).toBeGreaterThanOrEqual(clock.now() + 16_000);
});

test('only a valid entry of its own field is loaded', () => {
  const value = { reason: 'unreadable', attempts: 1 };
  expect(pending.load({ key: 'c/shop/a', field: 'service', value })).toBe(false);
  for (const [key, invalid] of [
    ['c/shop/a', null],
    ['c/shop/a', { attempts: 1 }],
    ['c/shop/a', { reason: 'unreadable' }],
    ['partition', value],
  ] as const) {
    expect(() => pending.load({ key, field: 'resync', value: invalid })).toThrow(TypeError);
  }
  expect(pending.dueAt).toBeUndefined();
});
