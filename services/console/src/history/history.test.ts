import type { Message } from '@sluice/messages';
import { silentLogger, VirtualClock } from '@sluice/platform';
import { describe, expect, test } from 'vitest';
import { pod, podChange, service, shop, snapshot, toAppend } from '../testing/records.ts';
import { History } from './history.ts';

const web = shop('web');

const add = (history: History, name: string, message: Message, partition = 0) =>
  history.add('changes', partition, { ...toAppend(message), key: `cluster-uid/shop/${name}` });

const first = (name: string, at = 1_000): Message => ({
  ...snapshot(1, at, [service({ name }), pod(`${name}-1`, {})]),
  key: shop(name),
});

/** Adds this many Changes of the Service. */
function flip(history: History, name: string, count: number): void {
  add(history, name, first(name));
  for (let n = 2; n < count + 2; n++)
    add(history, name, { ...podChange(n, n * 1_000, pod(`${name}-1`, { ready: n % 2 === 0 })), key: shop(name) });
}

describe('records', () => {
  test('are kept by Service, with their number, size and partition', () => {
    const history = new History({ clock: new VirtualClock(0) });
    add(history, 'web', first('web'));
    add(history, 'db', first('db'), 3);
    expect(history.size).toBe(2);
    expect(history.bytes).toBe([...history.journals].reduce((sum, { bytes }) => sum + bytes, 0));
    expect(history.get(shop('db'))?.partition).toBe(3);
    add(history, 'db', first('db'), 1);
    expect(history.get(shop('db'))?.partition).toBe(1);
    expect(history.get(shop('cart'))).toBeUndefined();
  });

  test('of requests are not kept', () => {
    const history = new History({ clock: new VirtualClock(0) });
    history.add('requests', 0, toAppend(first('web')));
    expect([history.size, history.since]).toEqual([0, undefined]);
  });

  test('that are neither of a Service nor the removal of its cluster change nothing', () => {
    const history = new History({ clock: new VirtualClock(0) });
    add(history, 'web', first('web'));
    const { bytes } = history;
    const change = { ...podChange(2, 2_000, pod('web-2', {})), key: web };
    history.add('changes', 0, { ...toAppend(change), key: 'cluster-uid' });
    history.add('changes', 0, { ...toAppend(change), payload: new TextEncoder().encode('{'), key: 'cluster-uid' });
    expect([history.size, history.bytes]).toEqual([1, bytes]);
  });

  test('are announced to listeners until they unsubscribe', () => {
    const history = new History({ clock: new VirtualClock(0) });
    const announced: string[] = [];
    const stop = history.onRecord(({ service: name }) => announced.push(name));
    add(history, 'web', first('web'));
    add(history, 'db', first('db'));
    stop();
    add(history, 'web', first('web'));
    expect(announced).toEqual(['web', 'db']);
  });
});

describe('the start of the history', () => {
  test('is when the first record was received, or the time of an older record that was read later', () => {
    const clock = new VirtualClock(5_000);
    const history = new History({ clock });
    expect(history.since).toBeUndefined();
    add(history, 'web', first('web'));
    clock.step(6_000);
    add(history, 'web', first('web'));
    expect(history.since).toBe(5_000);
    history.extendBack(4_000);
    history.extendBack(4_500);
    expect(history.since).toBe(4_000);
  });

  test('is the time of the first record that was read from a log', () => {
    const history = new History({ clock: new VirtualClock(5_000) });
    history.extendBack(4_000);
    expect(history.since).toBe(4_000);
  });

  test('moves with the retention', () => {
    const clock = new VirtualClock(0);
    const history = new History({ clock, retentionMs: 1_000 });
    history.expire();
    expect(history.since).toBeUndefined();
    add(history, 'web', first('web'));
    clock.step(900);
    history.expire();
    expect(history.since).toBe(0);
    clock.step(1_500);
    history.expire();
    expect(history.since).toBe(500);
  });
});

test('the retention is a day by default', () => {
  const clock = new VirtualClock(0);
  const history = new History({ clock });
  add(history, 'web', { ...first('web'), facts: [] } as Message);
  clock.step(24 * 3_600_000);
  history.expire();
  expect(history.get(web)?.entries).toHaveLength(0);
  expect(history.bytes).toBeGreaterThan(0);
  clock.step(24 * 3_600_000 + 1);
  history.expire();
  expect([history.size, history.bytes]).toEqual([0, 0]);
});

test('expires records every minute until it is stopped', () => {
  const clock = new VirtualClock(0);
  const history = new History({ clock, retentionMs: 1_000 });
  let expired = 0;
  const stop = history.expirePeriodically(() => expired++);
  add(history, 'web', { ...first('web'), facts: [] } as Message);
  while (clock.step(59_999));
  expect([history.size, expired]).toEqual([1, 0]);
  while (clock.step(180_000));
  expect([history.size, expired]).toEqual([0, 3]);
  stop();
  expect(clock.nextAt()).toBeUndefined();
});

describe('a history that is too large', () => {
  test('loses older records of Services with many, and none of Services with few', () => {
    const history = new History({ clock: new VirtualClock(0), maxBytes: 60_000 });
    flip(history, 'web', 3);
    const entries = history.get(web)?.entries.length;
    for (const name of ['db', 'cart']) flip(history, name, 60);
    expect(history.bytes).toBeLessThanOrEqual(60_000);
    expect(history.bytes).toBeGreaterThan(25_000);
    expect(history.get(web)?.entries).toHaveLength(entries ?? 0);
    expect(history.get(shop('cart'))?.entries.at(-1)?.at).toBe(61_000);
  });

  test('loses no more than needed', () => {
    const unlimited = new History({ clock: new VirtualClock(0) });
    for (const name of ['web', 'db']) flip(unlimited, name, 60);
    const { bytes } = unlimited;
    const history = new History({ clock: new VirtualClock(0), maxBytes: bytes - 1 });
    for (const name of ['web', 'db']) flip(history, name, 60);
    const kept = [...history.journals].map(({ entries }) => entries.length);
    expect(kept[0]).toBeLessThan(40);
    expect(kept[1]).toBe(60);
    expect(history.bytes).toBeLessThan(bytes * 0.9);
  });

  test('stays too large if every Service has few records', () => {
    const history = new History({ clock: new VirtualClock(0), maxBytes: 2_000 });
    for (const name of ['web', 'db', 'cart', 'auth', 'mail']) flip(history, name, 1);
    expect(history.bytes).toBeGreaterThan(2_000);
    expect([...history.journals].map(({ entries }) => entries.length)).toEqual([1, 1, 1, 1, 1]);
  });

  test('is shortened again once one of many Services gets a long history', () => {
    const history = new History({ clock: new VirtualClock(0), maxBytes: 2_000 });
    for (const name of ['web', 'db', 'cart', 'auth', 'mail']) flip(history, name, 1);
    const { bytes } = history;
    flip(history, 'long', 200);
    expect(history.bytes - bytes).toBeLessThan(50_000);
    expect(history.get(web)?.entries).toHaveLength(1);
  });

  test('keeps to its limit again once records have expired', () => {
    const clock = new VirtualClock(0);
    const history = new History({ clock, maxBytes: 40_000, retentionMs: 1_000 });
    for (let n = 0; n < 100; n++) flip(history, `web-${n}`, 1);
    expect(history.bytes).toBeGreaterThan(50_000);
    clock.step(2_000);
    history.expire();
    expect(history.bytes).toBe(0);
    for (const name of ['db', 'cart']) flip(history, name, 100);
    expect(history.bytes).toBeLessThanOrEqual(40_000);
  });
});

describe('a history of too many Services', () => {
  test('keeps those that were there first, joins all of them, and says so once', () => {
    const warnings: unknown[] = [];
    const logger = { ...silentLogger, warn: (message: string, fields: unknown) => warnings.push([message, fields]) };
    const history = new History({ clock: new VirtualClock(0), maxServices: 2, logger });
    add(history, 'web', first('web'));
    add(history, 'db', first('db'));
    expect(history.servicesLimit).toBeUndefined();
    expect(warnings).toEqual([]);
    const announced: string[] = [];
    history.onRecord(({ service: name }) => announced.push(name));
    for (const name of ['cart', 'web', 'mail']) add(history, name, first(name));
    expect([...history.journals].map(({ key }) => key.service)).toEqual(['web', 'db']);
    expect([...history.logicalServices.all].map(({ name }) => name)).toEqual(['web', 'db', 'cart', 'mail']);
    expect(history.servicesLimit).toBe(2);
    expect(announced).toEqual(['web']);
    expect(warnings).toEqual([
      [
        'history is full; further Services are only joined over all clusters',
        { services: 2, setting: 'console.maxServices' },
      ],
    ]);
  });

  test('has room again once the histories of others have expired', () => {
    const clock = new VirtualClock(0);
    const history = new History({ clock, maxServices: 1, retentionMs: 1_000 });
    add(history, 'web', { ...first('web'), facts: [] } as Message);
    add(history, 'db', first('db'));
    clock.step(2_000);
    history.expire();
    add(history, 'db', first('db'));
    expect([...history.journals].map(({ key }) => key.service)).toEqual(['db']);
  });
});
