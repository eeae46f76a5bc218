import { say } from '@sluice/program';
import { formatShrunk } from '../report.ts';
import { runTwice, sameTrace } from '../run-twice.ts';
import { type ScenarioOptions, scenarioOf } from '../scenario.ts';
import { shrink } from '../shrink.ts';
import { simulate } from '../simulation.ts';
import { saveRegression } from './regression.ts';

/** Regressions that are saved at most: the next one is probably of the same bug. */
const mostSaved = 5;

export interface FailedSeed {
  readonly seed: number;
  readonly invariant: string;
}

export interface SaveOptions {
  readonly directory: string;
  readonly scenario: ScenarioOptions;
  /** The command that runs the seed. */
  readonly commandOf: (seed: number) => string;
}

/** Shrinks the first failed seed of each invariant, and saves it as a regression test. */
export async function saveFailures(
  failed: readonly FailedSeed[],
  { directory, scenario, commandOf }: SaveOptions,
): Promise<void> {
  const first = new Map(failed.toReversed().map(({ seed, invariant }) => [invariant, seed]));
  for (const [invariant, seed] of [...first].slice(0, mostSaved)) {
    // The trace is compared only if that failed: it doubles the time.
    const run = invariant === sameTrace ? runTwice : simulate;
    const result = await run(scenarioOf(seed, scenario));
    if (result.violations[0]?.invariant !== invariant) {
      say(`seed ${seed} does not break "${invariant}" in this process; not saved`);
      continue;
    }
    const shrunk = await shrink(result, {}, run);
    const { path, commit } = saveRegression(directory, result, shrunk, commandOf(seed));
    say(`seed ${seed} ${formatShrunk(shrunk)}\n  commit ${commit}: ${commandOf(seed)}\n  saved as ${path}`);
  }
}
