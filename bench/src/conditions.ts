import { execFileSync } from 'node:child_process';
import { KUBERNETES_VERSION } from '@sluice/local';
import { machineDescription } from './process-stats.ts';
import type { Results } from './results.ts';

/** The conditions of a measurement. */
export function conditionsNow(): Pick<Results, 'version' | 'startedAt' | 'machine' | 'commit' | 'node' | 'kubernetes'> {
  return {
    version: 1,
    startedAt: new Date().toISOString(),
    machine: machineDescription(),
    commit: commit(),
    node: process.version,
    kubernetes: KUBERNETES_VERSION,
  };
}

/** With a plus if there are uncommitted changes. */
function commit(): string {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim();
  try {
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--untracked-files=no') ? '+' : '');
  } catch {
    return 'unknown';
  }
}

/** Rotates the order by round, so that none always follows the same one. */
export function rotate<T>(items: readonly T[], round: number): readonly T[] {
  const first = (round - 1) % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}
