import { expect, test } from 'vitest';
import { lastTime, outageText, parseAt, parseSince } from './times.ts';

const now = new Date(2026, 2, 1, 14, 30, 0, 0).getTime();
const today = (hours: number, minutes: number, seconds = 0) => new Date(2026, 2, 1, hours, minutes, seconds).getTime();

test('parseSince takes a duration', () => {
  expect(parseSince('1h', now)).toBe(now - 3_600_000);
  expect(parseSince('1m30s', now)).toBe(now - 90_000);
  for (const text of ['', 'yesterday', '-5m', '5']) expect(parseSince(text, now)).toBeUndefined();
});

test.each([
  ['03:12', today(3, 12)],
  ['3:12:09', today(3, 12, 9)],
  ['14:30', now],
  ['14:31', new Date(2026, 1, 28, 14, 31).getTime()],
  ['23:59', new Date(2026, 1, 28, 23, 59).getTime()],
  ['14:30:01', new Date(2026, 1, 28, 14, 30, 1).getTime()],
  ['00:00:59', today(0, 0, 59)],
  ['2026-03-01t03:12:00z', Date.UTC(2026, 2, 1, 3, 12)],
  ['2026-03-01T03:12', today(3, 12)],
  ['2026-03-01 03:12:09', today(3, 12, 9)],
  ['5m ago', now - 300_000],
  ['2026-03-01T03:12:00Z', Date.UTC(2026, 2, 1, 3, 12)],
  ['2026-03-01T03:12:00.250+01:00', Date.UTC(2026, 2, 1, 2, 12, 0, 250)],
])('at %s', (text, at) => {
  expect(parseAt(text, now)).toBe(at);
});

test.each(['03:12:60', 'x03:12', '03:12x', '5m agox', 'x 5m ago', '2026-03-01T03:12:00Zx', 'x2026-03-01T03:12:00Z'])(
  'not at %j',
  (text) => {
    expect(parseAt(text, now)).toBeUndefined();
  },
);

test.each(['', 'noon', '24:00', '03:60', '2026-03-01', '2026-13-01T00:00:00Z', 'x ago', '1700000000'])(
  'not at %j',
  (text) => {
    expect(parseAt(text, now)).toBeUndefined();
  },
);

test('outageText', () => {
  const outage = { what: 'west', since: today(11, 58, 53), reason: 'connection refused' };
  expect(outageText(outage, now)).toBe('west has not answered since 11:58:53 (connection refused)');
});

test('outageText of a server that answers but cannot be used', () => {
  const outage = { what: 'west', since: today(11, 58, 53), reason: 'a permission is missing', answers: true };
  expect(outageText(outage, now)).toBe('west has been unusable since 11:58:53 (a permission is missing)');
});

test('what continues has lasted until now, or until the end of an opened recording', () => {
  const recording = { from: 100, to: 200, isRedacted: false };
  const cluster = { identity: 'c', name: 'prod', version: '', server: '', state: 'watched', services: 1 };
  expect(lastTime({ recording, clusters: [cluster] }, now)).toBe(now);
  expect(lastTime({ recording, clusters: [{ ...cluster, state: 'recorded' }] }, now)).toBe(200);
  expect(lastTime({ recording: null, clusters: [] }, now)).toBe(now);
});
