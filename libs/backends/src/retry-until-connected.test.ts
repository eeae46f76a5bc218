import { UsageError } from '@sluice/process';
import { type LogFields, seededRandom, silentLogger, VirtualClock } from '@sluice/runtime';
import { RedisStoreError } from '@sluice/store-redis';
import { expect, test } from 'vitest';
import { retryUntilConnected } from './retry-until-connected.ts';

const clock = new VirtualClock();
const away = () => asUsage(new RedisStoreError('TIMEOUT', 'checking Redis: no answer from Redis within 10000 ms'));
const asUsage = (cause: Error) => new UsageError(cause.message, { cause });
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

test('a server that does not answer at the start is waited for, and it is said why', async () => {
  const { open, ports, warnings } = attempts(away(), away(), 'open');
  const reached = retryUntilConnected(open, ports, never);
  await pass(60_000);
  expect(await reached).toBe('open');
  expect(warnings).toHaveLength(2);
  expect(warnings[0]).toMatchObject({ reason: expect.stringContaining('no answer from Redis within') });
});

test('what somebody has to set right is not waited for', async () => {
  const wrong = asUsage(new RedisStoreError('CREDENTIALS', 'check user name and password'));
  const { open, ports } = attempts(wrong, 'open');
  await expect(retryUntilConnected(open, ports, never)).rejects.toBe(wrong);
});

test('who is told to stop waits no longer', async () => {
  const { open, ports, tried } = attempts(away());
  const stop = Promise.withResolvers<void>();
  const reached = retryUntilConnected(open, ports, stop.promise);
  await pass(1_000);
  stop.resolve();
  await pass(60_000);
  expect(await reached).toBeUndefined();
  expect(tried()).toBeLessThan(4);
});
