import { VirtualClock } from '@sluice/platform';
import { expect, test } from 'vitest';
import { Sessions } from './sessions.ts';

test('a session has a random id and ends after twelve hours', () => {
  const clock = new VirtualClock(0);
  const sessions = new Sessions(clock);
  const [first, second] = [sessions.create('t'), sessions.create('t')];
  expect(first).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(second).not.toBe(first);
  expect(sessions.has(first, 't')).toBe(true);
  expect(sessions.has('unknown', 't')).toBe(false);
  clock.step(12 * 3_600_000);
  expect(sessions.has(first, 't')).toBe(false);
});

test('the oldest session ends when there are too many', () => {
  const sessions = new Sessions(new VirtualClock(0));
  const first = sessions.create('t');
  const others = Array.from({ length: 1000 }, () => sessions.create('t'));
  expect(sessions.has(first, 't')).toBe(false);
  expect(others.every((id) => sessions.has(id, 't'))).toBe(true);
});

test('another token ends a session', () => {
  const sessions = new Sessions(new VirtualClock(0));
  const first = sessions.create('old');
  expect(sessions.has(first, 'new')).toBe(false);
  expect(sessions.has(first, 'old')).toBe(false);
});
