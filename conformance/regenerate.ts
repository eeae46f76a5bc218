/** Generates vectors from scenarios with the upstream controllers of a release. See `--help`. */

import { globSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { UsageError } from '@sluice/platform/process';
import { count, parseCommandLine, runProgram } from '@sluice/program';
import { canonical, type Json, sortedCanonically } from '@sluice/shadow';
import { makeVector, type OracleResult, type Scenario, withResyncs, withRounds } from './golden/make-vector.ts';
import { askOracle, buildOracle, pinnedVersion } from './golden/oracle.ts';
import { readLines } from './golden/read-lines.ts';
import type { Vector } from './golden/vector.ts';

const vectors = join(import.meta.dirname, 'vectors');
const defaults = {
  kubernetes: pinnedVersion(),
  check: false,
  out: vectors,
  scenarios: undefined,
  // Go iterates over small maps from a random start: a rare order occurs in about one of eight runs.
  repeat: '40',
} as const;

const HELP = `usage: node conformance/regenerate.ts [options] [CONTROLLER[/PROFILE] ... | functions]

Generates the vectors of conformance/vectors again, all or some, with the upstream controllers of a Kubernetes release, and
prints how many changed. Requires Go; the first run takes some minutes.

  --check               write nothing; exit status 1 if a stored vector is not what upstream does
  --kubernetes VERSION  the release (${defaults.kubernetes}, with which the stored vectors were recorded)
  --out DIRECTORY       output directory (conformance/vectors)
  --scenarios FILE      generate vectors from new scenarios instead; see conformance/generate.py
  --repeat N            repetitions of each scenario, to find results that vary (40)
`;

async function main(): Promise<number> {
  const line = parseCommandLine({ options: defaults, positionals: true }, process.argv.slice(2));
  if (line === 'help') {
    process.stdout.write(HELP);
    return 0;
  }
  const { kubernetes, check, out, scenarios } = line.options;
  if (!/^v1\.\d+\.\d+$/.test(kubernetes))
    throw new UsageError(`--kubernetes: expected a version such as v1.37.1, got "${kubernetes}"`);
  const oracle: Oracle = { program: buildOracle(kubernetes), repeat: count('repeat', line.options.repeat) };
  if (scenarios === undefined) return makeAnew(oracle, line.positionals, check ? undefined : out);
  const given = readLines(scenarios).map((text) => withResyncs(JSON.parse(text) as Scenario));
  await makeNew(oracle, given, out);
  return 0;
}

interface Oracle {
  readonly program: string;
  readonly repeat: number;
}

/** Regenerates existing vectors. Without an output directory, the exit status says whether all are what upstream does. */
async function makeAnew(oracle: Oracle, wanted: readonly string[], out: string | undefined): Promise<number> {
  let passed = 0;
  let failed = 0;
  const files = globSync('**/*.jsonl.gz', { cwd: vectors })
    .filter((file) => wanted.length === 0 || wanted.some((name) => isWithin(file, name)))
    .sort();
  for (const file of files) {
    const old = readLines(join(vectors, file));
    const made = file.startsWith('settled/') ? await scenariosAgain(oracle, old) : await functions(oracle, old);
    const changed = old.filter(
      (text, i) => !same(made[i]?.text ?? '', text) && (out !== undefined || !made[i]?.agrees),
    );
    const kept = made.flatMap(({ text }) => text ?? []);
    if (out !== undefined) write(join(out, file), kept);
    console.log(`${file.padEnd(48)} ${kept.length} vectors, ${changed.length} of ${old.length} changed`);
    for (const text of out === undefined ? changed : []) console.log(`FAIL ${(JSON.parse(text) as Call).name}`);
    passed += old.length - changed.length;
    failed += changed.length;
  }
  if (out !== undefined) return 0;
  console.log(`${passed} passed, ${failed} failed, 0 skipped`);
  return failed > 0 ? 1 : 0;
}

function write(path: string, lines: readonly string[]): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, gzipSync(lines.map((text) => `${text}\n`).join(''), { level: 9 }));
}

interface Made {
  /** Undefined: no round is the same in all repetitions. */
  readonly text: string | undefined;
  /** The first repetition agrees with the stored vector. Of later ones, a rare one may not. */
  readonly agrees: boolean;
}

async function scenariosAgain({ program, repeat }: Oracle, old: readonly string[]): Promise<readonly Made[]> {
  const given = old.map((line) => (JSON.parse(line) as { scenario: Scenario }).scenario);
  const answers = await askOracle(
    program,
    given.map((scenario) => JSON.stringify(scenario)),
    repeat,
  );
  return given.map((scenario, i) => {
    const result = JSON.parse(answers[i] ?? '') as OracleResult;
    const vector = makeVector(scenario, result);
    const stored = old[i] ?? '';
    const first = withRounds(JSON.parse(stored) as Vector, result);
    return {
      text: vector && JSON.stringify(vector),
      agrees: first !== undefined && same(JSON.stringify(first), stored),
    };
  });
}

/** Vectors of new scenarios, one file per controller and profile. */
async function makeNew({ program, repeat }: Oracle, given: readonly Scenario[], out: string): Promise<void> {
  const lines = given.map((scenario) => JSON.stringify(scenario));
  const answers = await askOracle(program, lines, repeat);
  const byFile = new Map<string, string[]>();
  for (const [i, scenario] of given.entries()) {
    const vector = makeVector(scenario, JSON.parse(answers[i] ?? '') as OracleResult);
    if (vector === undefined) continue;
    const file = `settled/${String(scenario.controller)}/${scenario.name.split('/')[0]}.jsonl.gz`;
    byFile.set(file, [...(byFile.get(file) ?? []), JSON.stringify(vector)]);
  }
  for (const [file, made] of byFile) {
    write(join(out, file), made);
    console.log(`${file.padEnd(48)} ${made.length} vectors`);
  }
}

interface Call {
  readonly fn: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

async function functions({ program }: Oracle, old: readonly string[]): Promise<readonly Made[]> {
  const calls = old.map((line) => JSON.parse(line) as Call);
  const lines = calls.map(({ fn, name, input }) => JSON.stringify({ ...input, fn, name }));
  const answers = await askOracle(program, lines, 1);
  return calls.map(({ fn, name, input }, i) => {
    const { fn: _fn, name: _name, ...output } = JSON.parse(answers[i] ?? '') as Record<string, unknown>;
    return { text: JSON.stringify({ fn, name, input, output }), agrees: false };
  });
}

function same(a: string, b: string): boolean {
  return a !== '' && canonical(inOrder(a)) === canonical(inOrder(b));
}

/** A vector whose unordered lists are sorted. */
function inOrder(vector: string): Json {
  return JSON.parse(vector, (key, value: Json) => {
    const isUnordered = (key === 'events' || key === 'hintCounts') && Array.isArray(value);
    return isUnordered ? sortedCanonically(value) : value;
  }) as Json;
}

function isWithin(file: string, wanted: string): boolean {
  const name = file.replace(/^settled\//, '').replace(/\.jsonl\.gz$/, '');
  return `${name}/`.startsWith(`${wanted}/`);
}

await runProgram(main);
