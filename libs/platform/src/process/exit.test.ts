import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, test, vi } from 'vitest';
import { silentLogger } from '../index.ts';
import { exitStatus, stopSignal } from './exit.ts';

const root = join(import.meta.dirname, '../../../..');

test('docs/reference/cli.md has the table of all exit statuses', () => {
  const rows = readFileSync(join(root, 'docs/reference/cli.md'), 'utf8').matchAll(/^\| (\d+) +\| \S/gm);
  expect([...rows].map(([, status]) => Number(status))).toEqual(Object.values(exitStatus));
});

test('the program sets no other exit status', () => {
  const literal = /process\.exit\((?=[^)])(?!.*exitStatus)|process\.exitCode (?:\|\|)?= (?!exitStatus|isUsageError)/;
  const setting = /process\.exit(?:\((?=[^)])|Code (?:\|\|)?= )/;
  const files = globSync('{libs,services}/*/src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'));
  const lines = files.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(lines.filter((line) => setting.test(line)).length).toBeGreaterThan(5);
  expect(lines.filter((line) => literal.test(line))).toEqual([]);
});

describe('stop signal', () => {
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
});
