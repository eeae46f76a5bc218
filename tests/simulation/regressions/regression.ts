import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runTwice } from '../run-twice.ts';
import { type Scenario, scenarioOf } from '../scenario.ts';
import type { RunResult } from '../simulation.ts';

/** A scenario that has broken an invariant, shrunk. It stays a test for good. */
export interface Regression {
  readonly invariant: string;
  readonly what: string;
  /** Commit at which it was found, and the command that finds it there. */
  readonly commit: string;
  readonly command: string;
  /** How long a Service may be wrong in it: as long as in the scenario that was not shrunk. */
  readonly boundMs: number;
  readonly scenario: Scenario;
}

/** Where regressions are kept. */
export const directory = import.meta.dirname;

/** Writes the regression test of a failed run. */
export function saveRegression(
  to: string,
  failed: RunResult,
  shrunk: RunResult,
  command: string,
): { readonly path: string; readonly commit: string } {
  const [violation] = shrunk.violations;
  if (violation === undefined) throw new Error(`seed ${shrunk.scenario.seed} breaks no invariant`);
  const { invariant, what } = violation;
  const commit = commitOf(import.meta.dirname);
  const { boundMs } = failed;
  const regression: Regression = { invariant, what, commit, command, boundMs, scenario: shrunk.scenario };
  mkdirSync(to, { recursive: true });
  const path = join(to, `${invariant.toLowerCase().replace(/[^a-z]+/g, '-')}-${shrunk.scenario.seed}.json`);
  writeFileSync(path, `${JSON.stringify(regression, undefined, 2)}\n`);
  return { path, commit };
}

/**
 * The result of the scenario today.
 *
 * @throws Error if scenarios have got fields since that the file lacks
 */
export async function replay(path: string): Promise<RunResult> {
  const { scenario, boundMs, command } = JSON.parse(readFileSync(path, 'utf8')) as Regression;
  const missing = Object.keys(scenarioOf(scenario.seed, { swarm: false })).filter((field) => !(field in scenario));
  if (missing.length > 0)
    throw new Error(`${path} has no ${missing.join()}: add it, or find the failure again: ${command}`);
  return runTwice(scenario, { boundMs });
}

export const regressionsIn = (folder: string): readonly string[] =>
  globSync('*.json', { cwd: folder })
    .sort()
    .map((name) => join(folder, name));

function commitOf(cwd: string): string {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { cwd, encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}
