import { silentLogger, VirtualClock } from '@sluice/platform';
import { expect, test } from 'vitest';
import { answeringMs, outageMs, repeatOutages } from './recurring-outage.ts';

const flush = () => new Promise<void>((resolve) => setImmediate(resolve));

test('an API server stops, returns and stops again, until the end', async () => {
  const clock = new VirtualClock(0);
  const calls: string[] = [];
  const record = (call: string) => async () => void calls.push(`${call} ${clock.now()}`);
  const stopping = new AbortController();
  const ports = { cluster: 'c', clock, logger: silentLogger };
  const ended = repeatOutages({ ...ports, stop: record('stop'), start: record('start') }, stopping.signal);
  const period = answeringMs + outageMs;
  for (const until = period + answeringMs; clock.step(until); ) await flush();
  expect(calls).toEqual([`stop ${answeringMs}`, `start ${period}`, `stop ${period + answeringMs}`]);
  stopping.abort();
  await ended;
  expect(calls).toHaveLength(3);
});
