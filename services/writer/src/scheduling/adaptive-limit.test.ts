import { ApiError } from '@sluice/kubernetes';
import { VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { apiError, conflict, forbidden } from '../testing/scripted-cluster.ts';
import { AdaptiveLimit } from './adaptive-limit.ts';

let clock: VirtualClock;
const noAbort = new AbortController().signal;

beforeEach(() => {
  clock = new VirtualClock(0);
});

const settle = (ms = 0) => advance(clock, ms);

/** Requests that complete when the test calls `end`. */
class Requests {
  readonly started: string[] = [];
  readonly failed: string[] = [];
  readonly #ends = new Map<string, (error: Error | undefined) => void>();
  readonly limit: AdaptiveLimit;

  constructor(limit: AdaptiveLimit) {
    this.limit = limit;
  }

  async send(name: string, order = 0, signal = noAbort): Promise<void> {
    const run = () => {
      this.started.push(name);
      return new Promise<void>((resolve, reject) =>
        this.#ends.set(name, (error) => (error === undefined ? resolve() : reject(error))),
      );
    };
    this.limit.run(order, run, signal).catch(() => this.failed.push(name));
    await settle();
  }

  async end(name: string, error?: Error): Promise<void> {
    this.#ends.get(name)?.(error);
    await settle();
  }
}

/** Runs `count` rounds of requests, each as large as the limit, where every request takes `latencyMs`. */
async function rounds(limit: AdaptiveLimit, count: number, latencyMs: number, error?: Error): Promise<void> {
  for (let round = 0; round < count; round++) {
    const size = limit.current;
    for (let i = 0; i < size; i++) {
      const request = () =>
        new Promise<void>((resolve, reject) =>
          clock.schedule(latencyMs, () => (error === undefined ? resolve() : reject(error))),
        );
      limit.run(0, request, noAbort).catch(() => {});
    }
    await settle(latencyMs);
  }
}

test('runs at most `limit` requests concurrently, unlike upstream (A6), and the others in order of priority', async () => {
  const requests = new Requests(new AdaptiveLimit({ max: 8, initial: 2, clock }));
  for (const [name, order] of [
    ['a', 0],
    ['b', 0],
    ['late', 9],
    ['early', 1],
  ] as const) {
    await requests.send(name, order);
  }
  expect(requests.started).toEqual(['a', 'b']);
  expect(requests.limit).toMatchObject({ inFlight: 2, waiting: 2 });
  await requests.end('a');
  expect(requests.started).toEqual(['a', 'b', 'early']);
  await requests.end('b', forbidden);
  expect(requests.started).toEqual(['a', 'b', 'early', 'late']);
});

describe('the limit', () => {
  test('rises by one per round up to the maximum while it is used and responses are fast', async () => {
    const limit = new AdaptiveLimit({ max: 6, initial: 2, clock });
    await rounds(limit, 1, 5);
    expect(limit.current).toBe(3);
    await rounds(limit, 20, 5);
    expect(limit.current).toBe(6);
  });

  test('starts low, so that the first writes do not each open a connection, and soon reaches half of the maximum', async () => {
    const limit = new AdaptiveLimit({ max: 64, clock });
    expect(limit.current).toBe(8);
    await rounds(limit, 24, 5);
    expect(limit.current).toBe(32);
    const beginnings = [1, 10, 200].map((max) => new AdaptiveLimit({ max, clock }).current);
    expect(beginnings).toEqual([1, 8, 25]);
  });

  test('rises although responses become much slower, as long as none is rejected', async () => {
    const limit = new AdaptiveLimit({ max: 64, clock });
    await rounds(limit, 4, 10);
    await rounds(limit, 60, 1_000);
    expect(limit.current).toBe(64);
  });

  test('stays unchanged while it is not reached', async () => {
    const limit = new AdaptiveLimit({ max: 64, initial: 8, clock });
    for (let i = 0; i < 100; i++) await limit.run(0, async () => {}, noAbort);
    expect(limit.current).toBe(8);
  });

  test.each([
    ['429', apiError('retry', 429)],
    ['503', apiError('retry', 503)],
    ['no response', apiError('retry', 0)],
  ])('halves on %s, once for all requests in flight together, down to one', async (_, error) => {
    const limit = new AdaptiveLimit({ max: 64, initial: 16, clock });
    await rounds(limit, 1, 5, error);
    expect(limit.current).toBe(8);
    await rounds(limit, 10, 5, error);
    expect(limit.current).toBe(1);
    await rounds(limit, 3, 5);
    expect(limit.current).toBe(4);
  });

  test.each([
    ['conflict', conflict],
    ['refusal', forbidden],
    ['aborted request', new ApiError('aborted', { kind: 'retry', status: 0, reason: 'Aborted' })],
  ])('does not fall on a %s', async (_, error) => {
    const limit = new AdaptiveLimit({ max: 64, initial: 16, clock });
    await rounds(limit, 1, 5, error);
    expect(limit.current).toBeGreaterThanOrEqual(16);
  });

  test.each([
    ['conflicts', conflict, 6],
    ['refusals', forbidden, 6],
    ['aborted requests, which are no response', new ApiError('x', { kind: 'retry', status: 0, reason: 'Aborted' }), 2],
    ['bugs, which are no response', new TypeError('bug'), 2],
  ])('rises with %s', async (_, error, expected) => {
    const limit = new AdaptiveLimit({ max: 6, initial: 2, clock });
    await rounds(limit, 20, 5, error);
    expect(limit.current).toBe(expected);
  });

  test('rises with a server that is always slow', async () => {
    const limit = new AdaptiveLimit({ max: 64, initial: 4, clock });
    await rounds(limit, 30, 5_000);
    expect(limit.current).toBeGreaterThan(30);
  });
});

describe('the excess of requests', () => {
  test('is zero without requests and while they are fast', async () => {
    const limit = new AdaptiveLimit({ max: 8, clock });
    expect(limit.excessMs).toBe(0);
    await rounds(limit, 20, 10);
    expect(limit.excessMs).toBe(0);
  });

  test('includes the wait for a slot', async () => {
    const limit = new AdaptiveLimit({ max: 4, clock });
    for (let i = 0; i < 200; i++)
      void limit.run(0, () => new Promise<void>((resolve) => clock.schedule(10, resolve)), noAbort);
    await settle(450);
    expect(limit.waiting).toBeGreaterThan(0);
    expect(limit.excessMs).toBeGreaterThan(50);
  });
});

describe('Retry-After', () => {
  test('delays every request for that long', async () => {
    const requests = new Requests(new AdaptiveLimit({ max: 8, clock }));
    await requests.send('a');
    await requests.end('a', apiError('retry', 429, 3_000));
    await requests.send('b');
    await settle(2_900);
    expect(requests.started).toEqual(['a']);
    await settle(200);
    expect(requests.started).toEqual(['a', 'b']);
  });

  test('of an hour is capped at half a minute', async () => {
    const requests = new Requests(new AdaptiveLimit({ max: 8, clock }));
    await requests.send('a');
    await requests.end('a', apiError('retry', 503, 3_600_000));
    await requests.send('b');
    await settle(31_000);
    expect(requests.started).toEqual(['a', 'b']);
  });
});

describe('an unresponsive server', () => {
  const silence = apiError('retry', 0);

  test('fails waiting requests too, so that none waits for hours; later requests are sent', async () => {
    const requests = new Requests(new AdaptiveLimit({ max: 1, clock }));
    for (const name of ['a', 'b', 'c']) await requests.send(name);
    await settle(30_000);
    await requests.end('a', silence);
    expect(requests.started).toEqual(['a']);
    expect(requests.failed).toEqual(['a', 'b', 'c']);
    expect(requests.limit.waiting).toBe(0);
    await requests.send('d');
    expect(requests.started).toEqual(['a', 'd']);
  });

  test('is not one that refuses connections or rejects late', async () => {
    const requests = new Requests(new AdaptiveLimit({ max: 1, clock }));
    for (const name of ['a', 'b', 'c']) await requests.send(name);
    await settle(10);
    await requests.end('a', silence);
    await settle(30_000);
    await requests.end('b', apiError('retry', 503));
    expect(requests.started).toEqual(['a', 'b', 'c']);
    expect(requests.failed).toEqual(['a', 'b']);
  });
});

test('a request whose wait is aborted runs at once and is not counted', async () => {
  const limit = new AdaptiveLimit({ max: 1, clock });
  const requests = new Requests(limit);
  const stop = new AbortController();
  await requests.send('a');
  await requests.send('b', 0, stop.signal);
  await requests.send('c');
  stop.abort();
  await settle();
  expect(requests.started).toEqual(['a', 'b']);
  expect(limit).toMatchObject({ inFlight: 1, waiting: 1 });
  await requests.send('d', 0, stop.signal);
  expect(requests.started).toEqual(['a', 'b', 'd']);
  await requests.end('a');
  expect(requests.started).toEqual(['a', 'b', 'd', 'c']);
});
