/** Runs whole fleets on a virtual clock, one per seed. See `--help`. */

import { UsageError } from '@sluice/platform/process';
import { choice, flag, integer, list, oneOf, runCommand, say, text, textOr } from '@sluice/program';
import type { PlantedBug } from '@sluice/program/planted-bug';
import { Coverage } from './coverage/coverage.ts';
import { reachableBranches } from './coverage/reachable.ts';
import { describeInterruption, type Interruption, type SmallState } from './exhaustive/interruption.ts';
import { allStates } from './exhaustive/states.ts';
import { heldOutBugs } from './planted/held-out/held-out-bugs.ts';
import { measure } from './planted/held-out/measure.ts';
import { formatMeasured, jsonOfMeasured } from './planted/held-out/report.ts';
import { formatHunts, type Hunt, hunt } from './planted/hunt.ts';
import { checkPlantedBugs, missedBugs, plantedBugs } from './planted/planted-bugs.ts';
import { directory, replay } from './regressions/regression.ts';
import { type FailedSeed, saveFailures } from './regressions/save-failures.ts';
import { formatFailure, formatShrunk, formatViolation } from './report.ts';
import { runSeeds } from './run-seeds.ts';
import { type Layer, layers, type ScenarioOptions, scenarioOf } from './scenario.ts';
import { shrink } from './shrink.ts';
import { simulate } from './simulation.ts';
import { suiteNames } from './suites/suite-kinds.ts';
import { formatEntry } from './timeline.ts';

const instrumentHook = new URL('./coverage/instrument-hook.ts', import.meta.url).href;
/** After this many seeds every rare branch has to be reached. */
const seedsForCoverage = 1_000;
/** Seeds at most, for each bug where bugs are planted. Seconds would find less on a slow machine. */
const defaultSeeds = { many: 1_000, planted: 600, heldOut: 290 };
/** The simulation may be made to find the bugs of the first half; those of the second show whether that helps with others. */
const halves = ['even', 'odd'] as const;
/** Failing seeds that are shrunk. */
const mostShrunk = 2;

await runCommand({
  usage: 'npm run simulate --',
  about: `Runs fleets of watchers, reconcilers and writers on fake API servers, a bus and a store, in one process and on a virtual
clock. A seed decides everything: what users do, which faults occur and in which order answers arrive. Invariants are
checked during the run, and the result is compared with a recomputation. See docs/contributing/simulation.md.
`,
  options: {
    seeds: text(
      'N',
      `number of seeds. Default: ${defaultSeeds.many}; for each bug of --planted ${defaultSeeds.planted}, of --held-out ${defaultSeeds.heldOut}`,
    ),
    first: integer(1, 'first seed'),
    minutes: text('N', 'time to run instead of a number of seeds'),
    seed: text('N', 'run one seed'),
    trace: flag('with --seed: print everything that happens'),
    search: flag('run each seed twice, compare what happens, and save shrunk failures as regression tests'),
    regressions: textOr(directory, 'DIR', 'with --search: where to save them'),
    replay: text('FILE', 'run a saved regression'),
    swarm: flag('many faults at high rates in each seed'),
    'disable-layers': text('LIST', `repair layers that no seed has: some of ${layers.join(', ')}`),
    suite: text('NAME', `run only seeds of a suite: ${suiteNames.join(', ')}`),
    exhaustive: flag('run every stale read, unobserved event and crash of a small world instead of seeds'),
    planted: flag('plant bugs one at a time, and report how many seeds find each'),
    'held-out': flag('plant bugs that nothing was made to find, and report the share that is found in each room'),
    unit: flag('with --held-out: also run the unit tests of the room'),
    output: choice(['table', 'json'] as const, 'table', 'with --held-out: output format'),
    bugs: text('TEXT', 'with --planted or --held-out: only bugs whose name or file contains this'),
    half: text('HALF', 'with --held-out: only the bugs at even, or at odd, places of the list'),
    sample: text('N', 'with --planted or --held-out: only every Nth bug'),
    processes: integer(2, 'processes that run seeds'),
  },
  main(options) {
    const disabled = layersOf(options['disable-layers']);
    const suite = options.suite === undefined ? undefined : oneOf('suite', options.suite, suiteNames);
    const scenario: ScenarioOptions = { swarm: options.swarm, suite, ...(disabled.length > 0 && { disabled }) };
    const flags = `${suite === undefined ? '' : ` --suite '${suite}'`}${options.swarm ? ' --swarm' : ''}${disabled.length > 0 ? ` --disable-layers ${disabled.join()}` : ''}`;
    if (options.seed !== undefined) return runOne(positiveInteger('seed', options.seed), options.trace, scenario);
    if (options.replay !== undefined) return runReplay(options.replay);
    if (options['held-out']) return runHeldOut(options);
    if (options.planted) return runPlanted(options);
    if (options.exhaustive) return runExhaustive(options);
    const minutes = options.minutes === undefined ? undefined : positiveInteger('minutes', options.minutes);
    return runMany({ ...options, seeds: seedsOf(options, 'many'), minutes, scenario, flags });
  },
});

/** @throws UsageError */
function layersOf(given: string | undefined): readonly Layer[] {
  return given === undefined ? [] : list(given).map((name) => oneOf('disable-layers', name, layers));
}

/** @throws UsageError */
function positiveInteger(option: string, given: string): number {
  const value = Number(given);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new UsageError(`--${option}: "${given}" is not a positive integer`);
  return value;
}

/** @throws UsageError */
function seedsOf({ seeds }: { readonly seeds: string | undefined }, mode: keyof typeof defaultSeeds): number {
  return seeds === undefined ? defaultSeeds[mode] : positiveInteger('seeds', seeds);
}

async function runOne(seed: number, trace: boolean, options: ScenarioOptions): Promise<number> {
  const scenario = scenarioOf(seed, options);
  const result = await simulate(scenario, { timeline: trace ? Number.MAX_SAFE_INTEGER : 12 });
  if (trace) for (const entry of result.timeline) process.stdout.write(`${formatEntry(entry)}\n`);
  for (const violation of result.violations) say(`seed ${seed} failed: ${formatViolation(violation)}`);
  const isFailed = result.violations.length > 0;
  if (isFailed && !trace) say(formatShrunk(await shrink(result)));
  process.stdout.write(`${isFailed ? 0 : 1} passed, ${isFailed ? 1 : 0} failed, 0 skipped\n`);
  return isFailed ? 1 : 0;
}

async function runReplay(path: string): Promise<number> {
  const { violations } = await replay(path);
  for (const violation of violations) say(`${path} failed: ${formatViolation(violation)}`);
  const isFailed = violations.length > 0;
  process.stdout.write(`${isFailed ? 0 : 1} passed, ${isFailed ? 1 : 0} failed, 0 skipped\n`);
  return isFailed ? 1 : 0;
}

interface Planted {
  readonly bugs: string | undefined;
  readonly sample: string | undefined;
  readonly seeds: string | undefined;
  readonly processes: number;
}

/** @throws Error if a bug no longer fits its source */
function chosen(all: readonly PlantedBug[], { bugs: text, sample }: Pick<Planted, 'bugs' | 'sample'>) {
  checkPlantedBugs(all);
  const every = sample === undefined ? 1 : positiveInteger('sample', sample);
  return all
    .filter(({ name }) => sample === undefined || !missedBugs.includes(name))
    .filter(({ name, file }) => text === undefined || name.includes(text) || file.includes(text))
    .filter((_, i) => i % every === 0);
}

interface HeldOutOptions {
  readonly half: string | undefined;
  readonly unit: boolean;
  readonly output: 'table' | 'json';
}

/** Measures; there is no share that has to be reached. */
async function runHeldOut(options: Planted & HeldOutOptions) {
  const { processes, unit, output, half } = options;
  const place = half === undefined ? undefined : halves.indexOf(oneOf('half', half, halves));
  const bugs = chosen(
    heldOutBugs.filter((_, i) => place === undefined || i % 2 === place),
    options,
  );
  const measured = await measure(bugs, { seeds: seedsOf(options, 'heldOut'), processes, unit });
  process.stdout.write(`${output === 'json' ? jsonOfMeasured(measured) : formatMeasured(measured)}\n`);
  return 0;
}

/** Fails if less than nine tenths of the bugs are found. */
async function runPlanted(options: Planted): Promise<number> {
  const { processes } = options;
  const seeds = seedsOf(options, 'planted');
  const bugs = chosen(plantedBugs, options);
  const hunts: Hunt[] = [];
  for (const bug of bugs) {
    const found = await hunt(bug, { seeds, processes });
    hunts.push(found);
    say(`${found.invariant ?? 'NOT FOUND'} after ${found.seeds} seeds, ${found.seconds.toFixed(1)} s: ${bug.name}`);
  }
  const count = hunts.filter(({ invariant }) => invariant !== undefined).length;
  process.stdout.write(`${formatHunts(hunts)}\n\n${count} of ${hunts.length} planted bugs found\n`);
  const isEnough = count >= 0.9 * hunts.length;
  process.stdout.write(`${isEnough ? 1 : 0} passed, ${isEnough ? 0 : 1} failed, 0 skipped\n`);
  return isEnough ? 0 : 1;
}

/** Runs every state of the small world. */
async function runExhaustive({ processes }: Pick<Many, 'processes'>): Promise<number> {
  const startedAt = performance.now();
  const states = await allStates();
  const failed: string[] = [];
  await runSeeds({
    ...{ first: 1, scenario: { swarm: false }, states, processes },
    continues: (started) => started < states.length,
    onReport: ({ seed, violations: [violation] }) => {
      const state = states[seed - 1];
      if (violation === undefined || state === undefined) return;
      failed.push(`state ${seed}, ${describeInterruption(state.interruption)}: ${formatViolation(violation)}`);
    },
  });
  for (const failure of failed.slice(0, 20)) say(failure);
  say(`${formatStates(states)} in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  process.stdout.write(`${states.length - failed.length} passed, ${failed.length} failed, 0 skipped\n`);
  return failed.length > 0 ? 1 : 0;
}

function formatStates(states: readonly SmallState[]): string {
  const count = (kind: Interruption['kind']) => states.filter(({ interruption }) => interruption.kind === kind).length;
  return `${states.length} states: ${count('crash')} crashes, ${count('unobserved')} unobserved events, ${count('stale')} stale reads, ${count('removal')} removals of clusters`;
}

interface Many {
  readonly seeds: number;
  readonly first: number;
  readonly minutes: number | undefined;
  readonly processes: number;
  readonly scenario: ScenarioOptions;
  readonly flags: string;
  readonly search: boolean;
  /** Where a search saves failures. */
  readonly regressions: string;
}

async function runMany({ seeds, first, minutes, processes, scenario, flags, search, regressions }: Many) {
  const startedAt = performance.now();
  const elapsedMs = () => performance.now() - startedAt;
  let [run, virtualMs, cpuMs] = [0, 0, 0];
  const failed: FailedSeed[] = [];
  const coverage = new Coverage(reachableBranches());
  await runSeeds({
    ...{ first, scenario, processes, twice: search },
    execArgv: [...process.execArgv, '--import', instrumentHook],
    continues: (started) => (minutes === undefined ? started < seeds : elapsedMs() < minutes * 60_000),
    onReport: (report) => {
      run += 1;
      virtualMs += report.virtualMs;
      cpuMs += report.cpuMs;
      coverage.add(report.reached);
      const [violation] = report.violations;
      if (violation === undefined) return;
      failed.push({ seed: report.seed, invariant: violation.invariant });
      say(formatFailure(report, flags));
    },
  });
  const seconds = elapsedMs() / 1000;
  say(
    `${run} seeds in ${seconds.toFixed(1)} s, ${(run / seconds).toFixed(1)} per second; ${(cpuMs / Math.max(1, run)).toFixed(0)} ms of CPU time and ${(virtualMs / 1000 / Math.max(1, run)).toFixed(0)} s of virtual time each`,
  );
  say(coverage.summary);
  const missed = run < seedsForCoverage ? [] : coverage.missed;
  for (const name of missed) say(`no seed has reached this branch: ${name}`);
  if (search) {
    const commandOf = (seed: number) => `npm run simulate -- --seed ${seed}${flags} --trace`;
    await saveFailures(failed, { directory: regressions, scenario, commandOf });
  }
  for (const { seed } of search ? [] : failed.slice(0, mostShrunk)) {
    const result = await simulate(scenarioOf(seed, scenario));
    if (result.violations.length > 0) say(`seed ${seed} ${formatShrunk(await shrink(result))}`);
  }
  const failures = failed.length + missed.length;
  process.stdout.write(`${run - failed.length} passed, ${failures} failed, 0 skipped\n`);
  return failures > 0 ? 1 : 0;
}
