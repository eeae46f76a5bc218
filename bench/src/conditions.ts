import { execFileSync } from 'node:child_process';
import { release } from 'node:os';
import { machineDescription } from './process-stats.ts';

/** Where and when something was measured. */
export interface Conditions {
  /** In UTC. */
  readonly startedAt: string;
  /** With a plus if there were uncommitted changes. */
  readonly commit: string;
  /** Number and model of processors, and memory. */
  readonly machine: string;
  readonly kernel: string;
  readonly node: string;
}

export function conditionsNow(): Conditions {
  return {
    startedAt: new Date().toISOString(),
    commit: commit(),
    machine: machineDescription(),
    kernel: release(),
    node: process.version,
  };
}

/** What all parts of a table must have in common. */
const common = ['commit', 'machine', 'kernel', 'node'] as const;

/**
 * The conditions of measurements that are compared with each other, with the first date.
 *
 * @throws Error if they differ
 */
export function commonConditions(all: readonly Conditions[]): Conditions {
  const [first] = all.toSorted((a, b) => a.startedAt.localeCompare(b.startedAt));
  if (first === undefined) throw new Error('no measurements');
  for (const field of common) {
    const values = [...new Set(all.map((each) => each[field]))];
    if (values.length > 1) throw new Error(`measurements of one table differ in ${field}: ${values.join('; ')}`);
  }
  return first;
}

export function conditionsText({ startedAt, commit, machine, kernel, node }: Conditions): string {
  return `${machine}, Linux ${kernel}, Node ${node}, commit ${commit}, ${startedAt.slice(0, 10)}`;
}

function commit(): string {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim();
  try {
    // Results of earlier parts are no change of the program.
    const changed = git(
      'status',
      '--porcelain',
      '--untracked-files=no',
      '--',
      ':/',
      ':(exclude,top)bench/results',
      ':(exclude,top)docs',
    );
    return git('rev-parse', '--short', 'HEAD') + (changed ? '+' : '');
  } catch {
    return 'unknown';
  }
}

/** Rotates the order by round, so that none always follows the same one. */
export function rotate<T>(items: readonly T[], round: number): readonly T[] {
  const first = (round - 1) % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}
