import { VirtualClock } from '@sluice/platform';
import { beforeEach, describe, expect, test } from 'vitest';
import { ApiError } from './api-error.ts';
import { TimeLimit } from './time-limit.ts';

let clock: VirtualClock;
let caller: AbortController;
let aborts: number;

beforeEach(() => {
  clock = new VirtualClock(0);
  caller = new AbortController();
  aborts = 0;
});

function start(timeoutMs = 1_000): TimeLimit {
  const limit = new TimeLimit(clock, 'https://api.test', caller.signal, timeoutMs, 'no response');
  limit.onAbort = () => void aborts++;
  return limit;
}

describe('a request', () => {
  test('is aborted when its time is over, and the error says so', () => {
    const limit = start();
    clock.step(999);
    expect([aborts, limit.hasExpired, limit.isAborted]).toEqual([0, false, false]);
    clock.step(1_000);
    expect([aborts, limit.hasExpired, limit.isAborted]).toEqual([1, true, true]);
    expect(limit.explain(new Error('aborted'))).toMatchObject({
      ...{ kind: 'retry', reason: 'Timeout', message: 'no response from https://api.test within 1 s' },
    });
  });

  test('is aborted when its caller aborts, and the error has the caller’s reason as its cause', () => {
    const limit = start();
    const reason = new Error('stopped');
    caller.abort(reason);
    expect([aborts, limit.hasExpired, limit.isAborted]).toEqual([1, false, true]);
    expect(limit.explain(new Error('aborted'))).toMatchObject({ kind: 'retry', reason: 'Aborted', cause: reason });
  });

  test('that fails by itself keeps its own error', () => {
    const limit = start();
    const rejected = new ApiError('no', { kind: 'terminal', status: 403, reason: 'Forbidden' });
    expect(limit.explain(rejected)).toBe(rejected);
    expect(limit.explain(Object.assign(new Error('x'), { code: 'ECONNREFUSED' })).reason).toBe('ECONNREFUSED');
  });
});

test('restarting replaces the limit', () => {
  const limit = start();
  clock.step(900);
  limit.restart(500, 'no further data');
  clock.step(1_399);
  expect(aborts).toBe(0);
  clock.step(1_400);
  expect(limit.explain(new Error('aborted')).message).toBe('no further data from https://api.test within 0.5 s');
});

test('a paused limit does not expire, but its caller can still abort', () => {
  start().pause();
  expect(clock.nextAt()).toBeUndefined();
  caller.abort();
  expect(aborts).toBe(1);
});

test('a request that has ended is not aborted any more', () => {
  start().end();
  expect(clock.nextAt()).toBeUndefined();
  caller.abort();
  expect(aborts).toBe(0);
});

test('all requests of a caller are aborted together, except those that have ended', () => {
  const [first] = [start(), start(), start()];
  first.end();
  caller.abort();
  expect(aborts).toBe(2);
});
