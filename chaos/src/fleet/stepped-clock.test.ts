import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from 'vitest';

const directory = mkdtempSync(join(tmpdir(), 'sluice-stepped-clock-'));
const offset = join(directory, 'offset');
const endings: (() => unknown)[] = [];
afterEach(() => {
  for (const end of endings.splice(0)) end();
  rmSync(directory, { recursive: true, force: true });
});

/** Prints how far its clocks are ahead of those of this process, in the main thread and in a worker. */
const program = (systemClock: string) => `
  import { Worker, isMainThread } from 'node:worker_threads';
  const { systemClock } = await import('${systemClock}');
  if (isMainThread) new Worker(new URL(import.meta.url));
  const started = systemClock.monotonic();
  setInterval(() => console.log(JSON.stringify({
    thread: isMainThread ? 'main' : 'worker', clock: systemClock.now(), date: new Date().getTime(),
    old: new Date(2020, 1).getFullYear(), ranMs: systemClock.monotonic() - started,
  })), 20);
`;

test('a process with a stepped clock follows each step in all threads, and its monotonic clock does not', async () => {
  writeFileSync(offset, '0');
  const main = join(directory, 'main.mjs');
  writeFileSync(main, program(import.meta.resolve('@sluice/platform/process')));
  const preload = new URL('./stepped-clock.ts', import.meta.url);
  preload.searchParams.set('offset', offset);
  const child = spawn(process.execPath, ['--import', preload.href, main]);
  endings.push(() => child.kill('SIGKILL'));
  const ahead = new Map<string, readonly [number, number]>();
  let last = { old: 0, ranMs: 0 };
  createInterface(child.stdout).on('line', (line) => {
    const { thread, clock, date, ...rest } = JSON.parse(line);
    ahead.set(thread, [clock - Date.now(), date - Date.now()]);
    last = rest;
  });
  const hours = () =>
    [...ahead.entries()].map(([thread, ms]) => [thread, ...ms.map((each) => Math.round(each / 3_600_000))]);
  for (const step of [0, 5, -3, 0]) {
    writeFileSync(offset, String(step * 3_600_000));
    const at = (thread: string) => [thread, step, step].map((each) => (each === 0 ? expect.closeTo(0) : each));
    await expect.poll(() => hours().sort()).toEqual([at('main'), at('worker')]);
  }
  expect(last.old).toBe(2020);
  expect(last.ranMs).toBeLessThan(3_600_000);
});
