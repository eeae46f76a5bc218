import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { text } from '@sluice/program';

export const heapOption = text(
  'DIR',
  'folder for a heap snapshot of each process at the end; see bench/heap-summary.ts',
);

const signal = 'SIGUSR2';
const pollMs = 500;

/** Lets Node processes that are started from now on write a heap snapshot into the folder on a signal. */
export function prepareHeapSnapshots(folder: string): void {
  mkdirSync(folder, { recursive: true });
  process.env.NODE_OPTIONS = `--heapsnapshot-signal=${signal} --diagnostic-dir=${resolve(folder)}`;
}

/** Has these Node processes write a snapshot each, and waits until the files are complete. */
export async function writeHeapSnapshots(folder: string, pids: readonly (number | undefined)[]): Promise<void> {
  for (const pid of pids) {
    if (pid === undefined) continue;
    const before = new Set(readdirSync(folder));
    process.kill(pid, signal);
    const written = () => readdirSync(folder).filter((name) => !before.has(name));
    for (let size = -1; ; ) {
      await sleep(pollMs);
      const now = written().reduce((sum, name) => sum + statSync(resolve(folder, name)).size, 0);
      if (now > 0 && now === size) break;
      size = now;
    }
  }
}
