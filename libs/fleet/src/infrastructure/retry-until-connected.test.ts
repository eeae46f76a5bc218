import { seededRandom, VirtualClock } from '@sluice/platform';
import { UsageError } from '@sluice/platform/process';
import { advance, recordingLogger } from '@sluice/platform/testing';
import { RedisStoreError } from '@sluice/store/redis';
import { expect, test } from 'vitest';
import { retryUntilConnected } from './retry-until-connected.ts';

const clock = new VirtualClock();
const unavailable = () =>
  asUsageError(new RedisStoreError('TIMEOUT', 'checking Redis: no answer from Redis within 10000 ms'));
const asUsageError = (cause: Error) => new UsageError(cause.message, { cause });
const never = new Promise<void>(() => {});

function attempts(...results: (Error | string)[]) {
  let tried = 0;
  const open = async () => {
    const result = results[Math.min(tried++, results.length - 1)];
    if (result instanceof Error) throw result;
    return result;
  };
  const logger = recordingLogger();
  return { open, ports: { clock, random: seededRandom(1), logger }, logger, tried: () => tried };
}

test('retries while a server is unavailable, and logs the reason and the end once', async () => {
  const { open, ports, logger } = attempts(unavailable(), unavailable(), 'open');
  const connected = retryUntilConnected(open, ports, never);
  await advance(clock, 60_000);
  expect(await connected).toBe('open');
  const reason = expect.stringContaining('no answer from Redis within');
  expect(logger.fields('warn')).toMatchObject([{ reason }]);
  expect(logger.fields('info')).toHaveLength(1);
});

test.each(['FULL', 'NO_REPLICAS'] as const)('retries while the store refuses writes: %s', async (code) => {
  const { open, ports, tried } = attempts(asUsageError(new RedisStoreError(code, 'setting partitions')), 'open');
  const connected = retryUntilConnected(open, ports, never);
  await advance(clock, 60_000);
  expect(await connected).toBe('open');
  expect(tried()).toBe(2);
});

test('throws errors that need a change of the configuration', async () => {
  const wrong = asUsageError(new RedisStoreError('CREDENTIALS', 'check user name and password'));
  const { open, ports } = attempts(wrong, 'open');
  await expect(retryUntilConnected(open, ports, never)).rejects.toBe(wrong);
});

test('stops retrying when stopped', async () => {
  const { open, ports, tried } = attempts(unavailable());
  const stop = Promise.withResolvers<void>();
  const connected = retryUntilConnected(open, ports, stop.promise);
  await advance(clock, 1_000);
  stop.resolve();
  await advance(clock, 60_000);
  expect(await connected).toBeUndefined();
  expect(tried()).toBeLessThan(4);
});
