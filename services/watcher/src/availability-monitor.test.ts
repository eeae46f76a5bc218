import { ApiError } from '@sluice/kubernetes';
import { type LogFields, type Logger, silentLogger, VirtualClock } from '@sluice/platform';
import type { Outage } from '@sluice/store';
import { beforeEach, expect, test } from 'vitest';
import { AvailabilityMonitor } from './availability-monitor.ts';

let clock: VirtualClock;
let lines: LogFields[];
let outages: (Outage | null)[];
let monitor: AvailabilityMonitor;

beforeEach(() => {
  clock = new VirtualClock(10_000);
  lines = [];
  outages = [];
  const line = (message: string, fields?: LogFields) => void lines.push({ message, ...fields });
  const logger: Logger = { ...silentLogger, info: line, warn: line };
  monitor = new AvailabilityMonitor({ clock, logger, onAvailability: (outage) => outages.push(outage) });
});

const refused = new ApiError('cannot connect', { kind: 'retry', status: 0, reason: 'ECONNREFUSED' });

test('reports an outage once, since its last answer, and its end', () => {
  monitor.answered();
  for (const at of [10_400, 10_500, 11_400, 12_000]) {
    clock.step(at);
    monitor.failed(refused);
  }
  expect(outages).toEqual([{ since: 10_000, reason: 'connection refused' }]);
  clock.step(22_000);
  monitor.answered();
  monitor.answered();
  expect(outages).toHaveLength(2);
  expect(outages[1]).toBeNull();
  expect(lines).toMatchObject([
    { message: 'cluster not responding; retrying', since: '1970-01-01T00:00:10.000Z', reason: 'connection refused' },
    { message: 'cluster responding again', after: '12s' },
  ]);
});

test('what is known is not newer than the last answer before requests failed, whatever it answers then', () => {
  monitor.answered();
  clock.step(14_000);
  monitor.responded();
  clock.step(18_000);
  monitor.failed(refused);
  clock.step(19_500);
  monitor.responded();
  monitor.failed(refused);
  expect(outages).toEqual([{ since: 14_000, reason: 'connection refused' }]);
});

test('says that a server has never answered', () => {
  monitor.failed(refused);
  clock.step(11_000);
  monitor.failed(refused);
  expect(outages).toEqual([{ since: 10_000, reason: 'connection refused', neverAnswered: true }]);
});

test('connections that are cut and restored at once are no outage', () => {
  monitor.failed(refused);
  clock.step(10_900);
  monitor.answered();
  clock.step(11_100);
  monitor.failed(refused);
  expect(outages).toEqual([]);
});

test.each([
  ['forbidden', 403],
  ['expired', 410],
  ['overloaded', 429],
])('%s is an answer', (reason, status) => {
  monitor.failed(refused);
  clock.step(11_500);
  monitor.failed(new ApiError(reason, { kind: 'retry', status, reason }));
  monitor.failed(refused);
  expect(outages).toEqual([]);
});

test('an API server that cannot serve is an outage', () => {
  const unavailable = new ApiError('etcd is down', { kind: 'retry', status: 503, reason: 'ServiceUnavailable' });
  monitor.failed(unavailable);
  clock.step(11_000);
  monitor.failed(unavailable);
  expect(outages).toMatchObject([{ reason: 'HTTP status 503: etcd is down' }]);
});
