import { afterEach, expect, it, vi } from 'vitest';
import { silentLogger } from '../index.ts';
import { stopSignal } from './stop-signal.ts';

const signals = ['SIGINT', 'SIGTERM'] as const;
const before = new Set(signals.flatMap((signal) => process.listeners(signal)));

afterEach(() => {
  vi.useRealTimers();
  for (const signal of signals) {
    for (const listener of process.listeners(signal)) if (!before.has(listener)) process.off(signal, listener);
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

it.each([
  ['SIGINT', 'stopping; press Ctrl-C again to stop immediately'],
  ['SIGTERM', 'stopping; send SIGTERM again to stop immediately'],
] as const)('says how to stop immediately: %s', async (signal, text) => {
  const info = vi.fn();
  const { stopped } = stopSignal(undefined, { ...silentLogger, info });
  process.emit(signal, signal);
  await stopped;
  expect(info.mock.calls).toEqual([[text, { signal }]]);
});
