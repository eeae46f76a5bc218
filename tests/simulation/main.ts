/** Runs whole fleets on a virtual clock, one per seed. See `--help`. */

import { UsageError } from '@sluice/process';
import { flag, integer, list, oneOf, runCommand, say, text } from '@sluice/program';
import { Coverage } from './coverage/coverage.ts';
import { reachableBranches } from './coverage/reachable.ts';
import { describeInterruption, type Interruption } from './exhaustive/interruption.ts';
import { allStates, type SmallState } from './exhaustive/states.ts';
import { formatHunts, type Hunt, hunt } from './planted/hunt.ts';
import { checkPlantedBugs, plantedBugs } from './planted/planted-bugs.ts';
import { formatFailure, formatShrunk, formatViolation } from './report.ts';
import { runSeeds } from './run-seeds.ts';
import { type Layer, layers, type ScenarioOptions, scenarioOf } from './scenario.ts';
import { shrink } from './shrink.ts';
import { simulate } from './simulation.ts';
import { formatEntry } from './timeline.ts';

const instrumentHook = new URL('./coverage/instrument-hook.ts', import.meta.url).href;
/** After this many seeds every rare branch has to be reached. */
const seedsForCoverage = 1_000;
/** Failing seeds that are shrunk. */
const mostShrunk = 2;

await runCommand({
  usage: 'npm run simulate --',
  about: `Runs fleets of watchers, reconcilers and writers on fake API servers, a bus and a store, in one process and on a virtual
clock. A seed decides everything: what users do, which faults occur and in which order answers arrive. Invariants are
checked during the run, and the result is compared with a recomputation. See docs/contributing/simulation.md.
`,
  options: {
    seeds: integer(1000, 'number of seeds'),
    first: integer(1, 'first seed'),
    minutes: text('N', 'time to run instead of a number of seeds'),
    seed: text('N', 'run one seed'),
    trace: flag('with --seed: print everything that happens'),
    swarm: flag('many faults at high rates in each seed'),
    'disable-layers': text('LIST', `repair layers that no seed has: some of ${layers.join(', ')}`),
    exhaustive: flag('run every stale read, unobserved event and crash of a small world instead of seeds'),
    planted: flag('plant bugs one at a time, and report how many seeds find each'),
    bugs: text('TEXT', 'with --planted: only bugs whose name or file contains this'),
    sample: text('N', 'with --planted: only every Nth bug'),
    seconds: integer(60, 'with --planted: CPU time of each process for each bug'),
    processes: integer(2, 'processes that run seeds'),
  },
  main(options) {
    const disabled = layersOf(options['disable-layers']);
    const scenario: ScenarioOptions = { swarm: options.swarm, ...(disabled.length > 0 && { disabled }) };
    const flags = `${options.swarm ? ' --swarm' : ''}${disabled.length > 0 ? ` --disable-layers ${disabled.join()}` : ''}`;
    if (options.seed !== undefined) return runOne(positiveInteger('seed', options.seed), options.trace, scenario);
    if (options.planted) return runPlanted(options);
    if (options.exhaustive) return runExhaustive(options);
    const minutes = options.minutes === undefined ? undefined : positiveInteger('minutes', options.minutes);
    return runMany({ ...options, minutes, scenario, flags });
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

interface Planted {
  readonly bugs: string | undefined;
  readonly sample: string | undefined;
  readonly seconds: number;
  readonly processes: number;
}

/** Fails if less than nine tenths of the bugs are found. */
async function runPlanted({ bugs: text, sample, seconds, processes }: Planted): Promise<number> {
  checkPlantedBugs();
  const every = sample === undefined ? 1 : positiveInteger('sample', sample);
  const bugs = plantedBugs
    .filter(({ name, file }) => text === undefined || name.includes(text) || file.includes(text))
    .filter((_, i) => i % every === 0);
  const hunts: Hunt[] = [];
  for (const bug of bugs) {
    const found = await hunt(bug, { seconds, processes });
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
  return `${states.length} states: ${count('crash')} crashes, ${count('unobserved')} unobserved events, ${count('stale')} stale reads`;
}

interface Many {
  readonly seeds: number;
  readonly first: number;
  readonly minutes: number | undefined;
  readonly processes: number;
  readonly scenario: ScenarioOptions;
  readonly flags: string;
}

async function runMany({ seeds, first, minutes, processes, scenario, flags }: Many): Promise<number> {
  const startedAt = performance.now();
  const elapsedMs = () => performance.now() - startedAt;
  let [run, virtualMs, cpuMs] = [0, 0, 0];
  const failed: number[] = [];
  const coverage = new Coverage(reachableBranches());
  await runSeeds({
    ...{ first, scenario, processes },
    execArgv: ['--import', instrumentHook],
    continues: (started) => (minutes === undefined ? started < seeds : elapsedMs() < minutes * 60_000),
    onReport: (report) => {
      run += 1;
      virtualMs += report.virtualMs;
      cpuMs += report.cpuMs;
      coverage.add(report.reached);
      if (report.violations.length === 0) return;
      failed.push(report.seed);
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
  for (const seed of failed.slice(0, mostShrunk)) {
    const result = await simulate(scenarioOf(seed, scenario));
    if (result.violations.length > 0) say(`seed ${seed} ${formatShrunk(await shrink(result))}`);
  }
  const failures = failed.length + missed.length;
  process.stdout.write(`${run - failed.length} passed, ${failures} failed, 0 skipped\n`);
  return failures > 0 ? 1 : 0;
}
