import { type LogFields, silentLogger, VirtualClock } from '@sluice/platform';
import { beforeEach, expect, test } from 'vitest';
import type { StoreProblem } from '../index.ts';
import type { ServerReport } from './check-server.ts';
import { RedisStoreError } from './redis-error.ts';
import { ServerMonitor } from './server-monitor.ts';

const good: ServerReport = { error: undefined, problems: [] };
const evicting: ServerReport = {
  error: new RedisStoreError('EVICTION', 'evicts'),
  problems: [{ kind: 'eviction', message: 'evicts' }],
};
const unreplicated: ServerReport = {
  error: undefined,
  problems: [{ kind: 'replication', message: 'no replica' }],
};

let clock: VirtualClock;
let reports: readonly ServerReport[] | Error;
let log: string[];

beforeEach(() => {
  clock = new VirtualClock(0);
  reports = [good];
  log = [];
});

function start(known: readonly StoreProblem[] = []): ServerMonitor {
  const note = (level: string) => (message: string, fields?: LogFields) => {
    log.push(`${level} ${message} ${String(fields?.problem)}`);
  };
  const logger = { ...silentLogger, info: note('info'), warn: note('warn'), error: note('error') };
  const check = async () => {
    if (reports instanceof Error) throw reports;
    return reports;
  };
  return new ServerMonitor({ check, clock, logger }, known);
}

async function minutes(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    clock.step(clock.now() + 60_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('a problem that appears is shown and logged once, and so is its end', async () => {
  const monitor = start();
  await minutes(2);
  expect(monitor.problems).toEqual([]);
  reports = [good, evicting];
  await minutes(3);
  expect(monitor.problems).toEqual(evicting.problems);
  reports = [unreplicated];
  await minutes(2);
  expect(monitor.problems).toEqual(unreplicated.problems);
  expect(log).toEqual([
    'error Redis settings have become unsafe evicts',
    'warn Redis settings have become unsafe no replica',
    'info Redis settings are safe again evicts',
  ]);
});

test('a problem that was reported at the start is not repeated', async () => {
  start(unreplicated.problems);
  reports = [unreplicated];
  await minutes(2);
  expect(log).toEqual([]);
});

test('a server that does not answer changes nothing', async () => {
  start();
  reports = [evicting];
  await minutes(1);
  reports = new Error('no answer');
  await minutes(2);
  reports = [evicting];
  await minutes(1);
  expect(log).toHaveLength(1);
});

test('a closed monitor checks nothing', async () => {
  const monitor = start();
  reports = [evicting];
  monitor.close();
  await minutes(2);
  expect(log).toEqual([]);
});
