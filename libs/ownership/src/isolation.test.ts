import { expect, test } from 'vitest';
import { Isolation, isolationDelayMs } from './isolation.ts';

const cutOff = { connected: false, othersConnected: true };
const well = { connected: true, othersConnected: true };
const outage = { connected: false, othersConnected: false };

function isolatedMember(): Isolation {
  const isolation = new Isolation();
  isolation.update(cutOff, 0);
  expect(isolation.update(cutOff, isolationDelayMs)).toBe(true);
  expect(isolation.isolated).toBe(true);
  return isolation;
}

test('a member is isolated once it has been cut off for the whole delay while others were connected', () => {
  const isolation = new Isolation();
  expect(isolation.update(cutOff, 0)).toBe(false);
  expect(isolation.update(cutOff, isolationDelayMs - 1)).toBe(false);
  expect(isolation.update(well, isolationDelayMs)).toBe(false);
  expect(isolation.update(cutOff, isolationDelayMs + 1)).toBe(false);
  expect(isolation.update(cutOff, 2 * isolationDelayMs)).toBe(false);
  expect(isolation.update(cutOff, 2 * isolationDelayMs + 1)).toBe(true);
});

test('an outage of the bus for all members isolates nobody, although they notice its begin and end at different times', () => {
  const isolation = new Isolation();
  isolation.update(cutOff, 0);
  for (let now = isolationDelayMs - 1; now < 100 * isolationDelayMs; now += 1_000) isolation.update(outage, now);
  expect(isolation.update(cutOff, 100 * isolationDelayMs)).toBe(false);
  expect(isolation.update(well, 101 * isolationDelayMs - 1)).toBe(false);
  expect(isolation.isolated).toBe(false);
});

test('an isolated member returns when it has been connected for the delay, not at the first reconnect', () => {
  const isolation = isolatedMember();
  expect(isolation.update(well, 20_000)).toBe(false);
  expect(isolation.update(cutOff, 20_000 + isolationDelayMs - 1)).toBe(false);
  expect(isolation.update(well, 40_000)).toBe(false);
  expect(isolation.update(well, 40_000 + isolationDelayMs)).toBe(true);
  expect(isolation.isolated).toBe(false);
});

test('an isolated member returns at once when it is connected and nobody else is', () => {
  const isolation = isolatedMember();
  expect(isolation.update(outage, 20_000)).toBe(false);
  expect(isolation.update({ connected: true, othersConnected: false }, 20_001)).toBe(true);
});
