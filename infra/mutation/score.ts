import type { MutantResult } from '@stryker-mutator/api/core';

/** What became of the mutants of a file or a room. Ignored ones are not counted. */
export interface Counts {
  readonly killed: number;
  readonly timeout: number;
  readonly survived: number;
  /** No test reaches them. */
  readonly uncovered: number;
}

export const none: Counts = { killed: 0, timeout: 0, survived: 0, uncovered: 0 };

const names: Partial<Record<MutantResult['status'], keyof Counts>> = {
  Killed: 'killed',
  Timeout: 'timeout',
  Survived: 'survived',
  NoCoverage: 'uncovered',
};

export function counted(results: readonly MutantResult[]): Counts {
  const counts = { ...none };
  for (const { status } of results) {
    const name = names[status];
    if (name !== undefined) counts[name] += 1;
  }
  return counts;
}

export const sum = (all: readonly Counts[]): Counts =>
  all.reduce(
    (a, b) => ({
      killed: a.killed + b.killed,
      timeout: a.timeout + b.timeout,
      survived: a.survived + b.survived,
      uncovered: a.uncovered + b.uncovered,
    }),
    none,
  );

export const total = ({ killed, timeout, survived, uncovered }: Counts): number =>
  killed + timeout + survived + uncovered;

/** Detected mutants in percent, rounded down to two digits; 100 without mutants. */
export function score(counts: Counts): number {
  const all = total(counts);
  return all === 0 ? 100 : Math.floor((10_000 * (counts.killed + counts.timeout)) / all) / 100;
}
