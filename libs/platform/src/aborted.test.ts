import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { orAborted } from './aborted.ts';

test('a promise that settles leaves no listener on the signal', async () => {
  const { signal } = new AbortController();
  expect(await orAborted(Promise.resolve(3), signal)).toBe(3);
  await expect(orAborted(Promise.reject(new Error('no answer')), signal)).rejects.toThrow('no answer');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('a signal that aborts ends the wait', async () => {
  const stop = new AbortController();
  const waiting = orAborted(new Promise<never>(() => {}), stop.signal);
  stop.abort();
  expect(await waiting).toBe('aborted');
  expect(await orAborted(new Promise<never>(() => {}), stop.signal)).toBe('aborted');
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
});
