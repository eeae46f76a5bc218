import { VirtualClock } from '@sluice/platform';
import { expect, test } from 'vitest';
import { Sessions } from './sessions.ts';

test('a session has a random id and ends after twelve hours', () => {
  const clock = new VirtualClock(0);
  const sessions = new Sessions(clock);
  const [first, second] = [sessions.create('t'), sessions.create('t')];
  expect(first).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(second).not.toBe(first);
  expect(sessions.tokenOf(first)).toBe('t');
  expect(sessions.tokenOf('unknown')).toBeUndefined();
  clock.step(12 * 3_600_000);
  expect(sessions.tokenOf(first)).toBeUndefined();
});

test('the oldest session ends when there are too many', () => {
  const sessions = new Sessions(new VirtualClock(0));
  const first = sessions.create('t');
  const others = Array.from({ length: 1000 }, () => sessions.create('t'));
  expect(sessions.tokenOf(first)).toBeUndefined();
  expect(others.every((id) => sessions.tokenOf(id) === 't')).toBe(true);
});

test('the token of a session is found with its id', () => {
  const sessions = new Sessions(new VirtualClock(0));
  const tokens = ['eyJhbGciOiJSUzI1NiJ9.e30.c2lnbmF0dXJl', 'ä'];
  const ids = tokens.map((token) => sessions.create(token));
  expect(ids.map((id) => sessions.tokenOf(id))).toEqual(tokens);
});
