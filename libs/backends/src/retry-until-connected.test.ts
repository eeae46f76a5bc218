import { UsageError } from '@sluice/process';
import { type LogFields, seededRandom, silentLogger, VirtualClock } from '@sluice/runtime';
import { RedisStoreError } from '@sluice/store-redis';
import { expect, test } from 'vitest';
import { retryUntilConnected } from './retry-until-connected.ts';

const clock = new VirtualClock();
const unavailable = () =>
  asUsageError(new RedisStoreError('TIMEOUT', 'checking Redis: no answer from Redis within 10000 ms'));
const asUsageError = (cause: Error) => new UsageError(cause.message, { cause });
const never = new Promise<void>(() => {});

function attempts(...results: (Error | string)[]) {
  const warnings: (LogFields | undefined)[] = [];
  let tried = 0;
  const open = async () => {
    const result = results[Math.min(tried++, results.length - 1)];
    if (result instanceof Error) throw result;
    return result;
  };
  const logger = { ...silentLogger, warn: (_: string, fields?: LogFields) => void warnings.push(fields) };
  return { open, ports: { clock, random: seededRandom(1), logger }, warnings, tried: () => tried };
}

async function pass(ms: number): Promise<void> {
  const until = clock.now() + ms;
  do await new Promise((resolve) => setImmediate(resolve));
  while (clock.step(until));
}

test('retries while a server is unavailable, and logs the reason', async () => {
  const { open, ports, warnings } = attempts(unavailable(), unavailable(), 'open');
  const connected = retryUntilConnected(open, ports, never);
  await pass(60_000);
  expect(await connected).toBe('open');
  expect(warnings).toHaveLength(2);
  expect(warnings[0]).toMatchObject({ reason: expect.stringContaining('no answer from Redis within') });
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
  await pass(1_000);
  stop.resolve();
  await pass(60_000);
  expect(await connected).toBeUndefined();
  expect(tried()).toBeLessThan(4);
});
