import { planted } from '@sluice/program/planted-bug';
import { runSeeds } from '../run-seeds.ts';
import type { SuiteBug } from './suite-bugs.ts';
import { table } from './table.ts';

export interface HuntOptions {
  /** Seeds at most for each bug. */
  readonly seeds: number;
  readonly processes: number;
}

/** How a planted bug was found; `invariant` undefined: it was not. */
export interface Hunt {
  readonly bug: SuiteBug;
  /** Seeds that were run, with the one that failed. */
  readonly seeds: number;
  /** Processor time of each process. */
  readonly seconds: number;
  readonly invariant: string | undefined;
}

/** Runs seeds with a planted bug until one fails. */
export async function hunt(bug: SuiteBug, { seeds: most, processes }: HuntOptions): Promise<Hunt> {
  let [seeds, cpuMs] = [0, 0];
  let invariant: string | undefined;
  await runSeeds({
    first: 1,
    scenario: { swarm: false, suite: bug.suite },
    continues: (started) => invariant === undefined && started < most,
    processes,
    ...planted(bug),
    onReport: (report) => {
      if (invariant !== undefined) return;
      seeds += 1;
      cpuMs += report.cpuMs;
      invariant = report.violations[0]?.invariant;
    },
  });
  return { bug, seeds, seconds: cpuMs / 1000 / processes, invariant };
}

export function formatHunts(hunts: readonly Hunt[]): string {
  const rows = hunts.map(({ bug, seeds, seconds, invariant }) => [
    bug.name,
    bug.file.replace('/src/', '/'),
    String(seeds),
    seconds.toFixed(1),
    invariant ?? 'not found',
  ]);
  return table(['planted bug', 'file', 'seeds', 'seconds', 'invariant'], rows);
}
