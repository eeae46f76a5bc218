import { chainWriter } from '@sluice/kubernetes';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { beforeEach, describe, expect, test } from 'vitest';
import { apiError, conflict, forbidden, ScriptedCluster, unavailable } from '../testing/scripted-cluster.ts';
import { defaultRetry, retryTransientErrors } from './retry.ts';

const done = { metadata: { name: 'web', namespace: 'shop' } };
let clock: VirtualClock;
let stop: AbortController;
let logged: number;

beforeEach(() => {
  clock = new VirtualClock();
  stop = new AbortController();
});

/** Runs a request that fails with `errors` in turn. Returns when it was attempted and how it ended. */
async function tries(errors: readonly unknown[], { random = seededRandom(1), attempts = 4, permitted = 9 } = {}) {
  const at: number[] = [];
  let retries = 0;
  logged = 0;
  const left = [...errors];
  const get = async () => {
    at.push(clock.now());
    const error = left.shift();
    if (error !== undefined) throw error;
    return done;
  };
  const ports = {
    clock,
    random,
    logger: () => {
      logged++;
      return silentLogger;
    },
    mayRetry: () => retries < permitted,
    onRetry: () => retries++,
  };
  const retry = retryTransientErrors({ ...defaultRetry, attempts, ...ports }, stop.signal);
  const writer = chainWriter(Object.assign(new ScriptedCluster(), { get }), retry);
  const ended = writer.get('endpoints', 'shop', 'web', stop.signal).catch((error: unknown) => error);
  do await new Promise((resolve) => setImmediate(resolve));
  while (clock.step());
  return { at, retries, ended: await ended };
}

const delays = (at: readonly number[]) => at.slice(1).map((time, i) => time - (at[i] ?? 0));

test('a retry that exceeds the limit of all retries is left to the reconciler', async () => {
  const tried = await tries(Array(9).fill(unavailable), { permitted: 1 });
  expect(tried).toMatchObject({ ended: unavailable, retries: 1, at: { length: 2 } });
});

test('transient errors are retried up to the maximum number of attempts', async () => {
  expect(await tries([unavailable, unavailable])).toMatchObject({ ended: done, retries: 2, at: { length: 3 } });
  expect(await tries(Array(9).fill(unavailable))).toMatchObject({ ended: unavailable, retries: 3, at: { length: 4 } });
  expect(await tries([unavailable], { attempts: 1 })).toMatchObject({ ended: unavailable, retries: 0 });
});

test.each([conflict, forbidden, new TypeError('bug')])('%s is not retried', async (error) => {
  expect(await tries([error])).toMatchObject({ ended: error, retries: 0, at: { length: 1 } });
});

describe('the delay', () => {
  test('grows exponentially with jitter within its bounds', async () => {
    for (let seed = 1; seed <= 50; seed++) {
      const { at } = await tries(Array(3).fill(unavailable), { random: seededRandom(seed) });
      for (const [i, delay] of delays(at).entries()) {
        expect(delay, `seed ${seed}`).toBeGreaterThanOrEqual(50 * 2 ** i);
        expect(delay, `seed ${seed}`).toBeLessThanOrEqual(100 * 2 ** i);
      }
    }
  });

  test('uses the given Random', async () => {
    const [a, b, c] = await Promise.all([1, 1, 2].map((seed) => tries([unavailable], { random: seededRandom(seed) })));
    expect(a?.at).toEqual(b?.at);
    expect(a?.at).not.toEqual(c?.at);
  });

  test('is at least Retry-After and otherwise unaffected by it', async () => {
    const { at } = await tries([apiError('retry', 429, 7_000), apiError('retry', 429, 0)]);
    const [first = 0, second = 0] = delays(at);
    expect(first).toBe(7_000);
    expect(second).toBeLessThanOrEqual(200);
  });
});

test('does not wait once the signal has aborted, and logs no retry', async () => {
  stop.abort();
  expect(await tries([unavailable])).toMatchObject({ ended: unavailable, at: { length: 1 } });
  expect(clock.now()).toBe(0);
  expect(logged).toBe(0);
});
