import { globSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION_VARIABLE } from '@sluice/local';
import { say } from '@sluice/program';
import { Pair } from '../differential/pair.ts';
import { runSeed, type SeedOptions } from '../differential/run-seed.ts';
import { type OracleResult, withRounds } from '../golden/make-vector.ts';
import { askOracle, buildOracle } from '../golden/oracle.ts';
import { playAll } from '../golden/play-all.ts';
import type { Played } from '../golden/player.ts';
import { readLines } from '../golden/read-lines.ts';
import type { Vector } from '../golden/vector.ts';
import { runSuites } from '../run-suites.ts';
import { isExplainedIn } from './releases.ts';
import type { ReleaseResult } from './results.ts';

export type WorkloadOptions = Pick<SeedOptions, 'seed' | 'steps' | 'checkpoints'>;

/** What Sluice needs of an API server: reads, writes, permissions, answers and errors; and the same as upstream. */
const contracts = {
  projects: ['integration', 'nightly'] as const,
  patterns: [
    'conformance/protobuf.int.test.ts',
    'infra/local/control-plane.int.test.ts',
    ...['doctor', 'permissions', 'responses'].map((name) => `tests/${name}.int.test.ts`),
    'tests/upstream.nightly.test.ts',
  ],
};

export async function checkContracts(kubernetes: string): Promise<NonNullable<ReleaseResult['contracts']>> {
  const { output, passed, failed } = await runSuites(contracts, { [VERSION_VARIABLE]: kubernetes });
  if (failed > 0) process.stdout.write(`${output}\n`);
  say(`${kubernetes}: contract tests: ${passed} passed, ${failed} failed`);
  return { passed, failed };
}

export async function checkDifferential(
  kubernetes: string,
  workload: WorkloadOptions,
): Promise<NonNullable<ReleaseResult['differential']>> {
  const pair = await Pair.start();
  try {
    const { seed, steps, checkpoints, compared, explained, differences } = await runSeed(pair, workload);
    for (const difference of differences) process.stdout.write(`${difference}\n`);
    const known = [...explained.values()].reduce((a, b) => a + b, 0);
    say(`${kubernetes}: differential seed ${seed}: ${compared} slices, ${known} explained, ${differences.length} not`);
    return { seed, steps, checkpoints, slices: compared, explained: known, unexplained: differences.length };
  } finally {
    await pair.stop();
  }
}

const shownFailures = 10;
/** A few results of upstream are random. A scenario passes if Sluice agrees with one of this many. */
const attempts = 20;

/** Plays the recorded scenarios with the controllers of the release and with Sluice, all deviations reproduced. */
export async function checkVectors(kubernetes: string): Promise<NonNullable<ReleaseResult['vectors']>> {
  const recorded = readVectors();
  const program = buildOracle(kubernetes);
  const vectors = await recordAgain(program, recorded);
  const played = await play(vectors);
  const differing = played.filter(({ differences, listed }) => differences.length > 0 && !listed);
  const failures: Played[] = [];
  for (const one of differing) {
    const vector = recorded.find(({ name }) => name === one.name);
    const again = await play(await recordAgain(program, vector === undefined ? [] : Array(attempts).fill(vector)));
    if (!again.some(({ differences }) => differences.length === 0)) failures.push(one);
  }
  const known = failures.filter((one) => isExplainedIn(kubernetes, one));
  const unknown = failures.filter((one) => !known.includes(one));
  for (const { name, differences } of unknown.slice(0, shownFailures))
    process.stdout.write(`${[`FAIL ${name}`, ...differences].join('\n   ')}\n`);
  const failed = unknown.length;
  const explained = known.length + played.filter(({ differences, listed }) => differences.length > 0 && listed).length;
  const passed = played.length - failed - explained;
  const panicked = recorded.length - vectors.length;
  say(
    `${kubernetes}: vectors: ${passed} passed, ${failed} failed, ${explained} explained, upstream panics in ${panicked}`,
  );
  return { passed, failed, explained, panicked };
}

function readVectors(): readonly Vector[] {
  const folder = join(import.meta.dirname, '../vectors/settled');
  const files = globSync('*/*.jsonl.gz', { cwd: folder }).sort();
  return files.flatMap((file) => readLines(join(folder, file))).map((line) => JSON.parse(line) as Vector);
}

/** The vectors with the results of an oracle, without those of scenarios in which it panics. */
async function recordAgain(program: string, vectors: readonly Vector[]): Promise<readonly Vector[]> {
  const scenarios = vectors.map(({ scenario }) => JSON.stringify(scenario));
  const answers = await askOracle(program, scenarios, 1);
  return vectors.flatMap((vector, i) => withRounds(vector, JSON.parse(answers[i] ?? '') as OracleResult) ?? []);
}

function play(vectors: readonly Vector[]): Promise<readonly Played[]> {
  const lines = vectors.map((vector) => JSON.stringify(vector));
  return playAll(lines, 'upstream');
}
