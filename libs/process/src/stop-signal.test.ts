import { silentLogger } from '@sluice/runtime';
import { afterEach, expect, it, vi } from 'vitest';
import { stopSignal } from './stop-signal.ts';

const before = process.listeners('SIGTERM');

afterEach(() => {
  vi.useRealTimers();
  for (const listener of process.listeners('SIGTERM')) {
    if (!before.includes(listener)) process.off('SIGTERM', listener);
  }
});

it('resolves after the given time', async () => {
  vi.useFakeTimers();
  const { stopped } = stopSignal(20_000, silentLogger);
  await vi.advanceTimersByTimeAsync(20_000);
  await stopped;
});

it('resolves on SIGTERM, and cancel leaves no timer that keeps the process alive', async () => {
  vi.useFakeTimers();
  const { stopped, cancel } = stopSignal(20_000, silentLogger);
  process.emit('SIGTERM', 'SIGTERM');
  await stopped;
  cancel();
  expect(vi.getTimerCount()).toBe(0);
});
