/**
 * node conformance/regenerate.ts --kubernetes v1.37.1 [--out DIRECTORY] [--repeat 40] [CONTROLLER[/PROFILE]… | functions]
 *
 * Makes vectors anew from the scenarios of conformance/vectors, with the genuine controllers of that release, and says
 * how many came out otherwise. Needs Go. Default directory: conformance/vectors itself.
 *
 * node conformance/regenerate.ts --kubernetes v1.37.1 --scenarios FILE --out DIRECTORY
 *
 * Makes vectors from new scenarios (conformance/generate.py) instead.
 */
import { globSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { canonical, type Json } from '@sluice/comparison';
import { makeVector, type OracleResult, type Scenario, settled } from './golden/make-vector.ts';
import { askOracle, buildOracle } from './golden/oracle.ts';
import { readLines } from './golden/read-lines.ts';

const vectors = join(import.meta.dirname, 'vectors');
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    kubernetes: { type: 'string' },
    out: { type: 'string', default: vectors },
    scenarios: { type: 'string' },
    // Go's small maps are walked round from anywhere: a rare order shows in about one of eight runs.
    repeat: { type: 'string', default: '40' },
  },
});
if (!/^v1\.\d+\.\d+$/.test(values.kubernetes ?? '')) {
  process.stderr.write(
    'usage: regenerate.ts --kubernetes v1.x.y [--out DIRECTORY] [CONTROLLER[/PROFILE]… | functions]\n',
  );
  process.exit(2);
}

const program = buildOracle(values.kubernetes ?? '');
if (values.scenarios !== undefined) {
  await makeNew(readLines(values.scenarios).map((line) => settled(JSON.parse(line) as Scenario)));
  process.exit();
}
const files = globSync('**/*.jsonl.gz', { cwd: vectors })
  .filter((file) => positionals.length === 0 || positionals.some((wanted) => isWithin(file, wanted)))
  .sort();
for (const file of files) {
  const old = readLines(join(vectors, file));
  const made = file.startsWith('settled/') ? await scenarios(old) : await functions(old);
  const changed = made.filter((line, i) => line === undefined || !same(line, old[i] ?? '')).length;
  const path = join(values.out, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(
    path,
    gzipSync(made.flatMap((line) => (line === undefined ? [] : [`${line}\n`])).join(''), { level: 9 }),
  );
  const lost = made.filter((line) => line === undefined).length;
  console.log(`${file.padEnd(48)} ${made.length - lost} vectors, ${changed} of ${old.length} changed`);
}

async function scenarios(old: readonly string[]): Promise<(string | undefined)[]> {
  const given = old.map((line) => (JSON.parse(line) as { scenario: Scenario }).scenario);
  const answers = await askOracle(
    program,
    given.map((scenario) => JSON.stringify(scenario)),
    Number(values.repeat),
  );
  return given.map((scenario, i) => {
    const vector = makeVector(scenario, JSON.parse(answers[i] ?? '') as OracleResult);
    return vector === undefined ? undefined : JSON.stringify(vector);
  });
}

/** Vectors of new scenarios, in a file per controller and profile. */
async function makeNew(given: readonly Scenario[]): Promise<void> {
  const lines = given.map((scenario) => JSON.stringify(scenario));
  const answers = await askOracle(program, lines, Number(values.repeat));
  const byFile = new Map<string, string[]>();
  for (const [i, scenario] of given.entries()) {
    const vector = makeVector(scenario, JSON.parse(answers[i] ?? '') as OracleResult);
    if (vector === undefined) continue;
    const file = `settled/${String(scenario.controller)}/${scenario.name.split('/')[0]}.jsonl.gz`;
    byFile.set(file, [...(byFile.get(file) ?? []), `${JSON.stringify(vector)}\n`]);
  }
  for (const [file, made] of byFile) {
    const path = join(values.out, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, gzipSync(made.join(''), { level: 9 }));
    console.log(`${file.padEnd(48)} ${made.length} vectors`);
  }
}

interface Call {
  readonly fn: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

async function functions(old: readonly string[]): Promise<string[]> {
  const calls = old.map((line) => JSON.parse(line) as Call);
  const lines = calls.map(({ fn, name, input }) => JSON.stringify({ ...input, fn, name }));
  const answers = await askOracle(program, lines, 1);
  return calls.map(({ fn, name, input }, i) => {
    const { fn: _fn, name: _name, ...output } = JSON.parse(answers[i] ?? '') as Record<string, unknown>;
    return JSON.stringify({ fn, name, input, output });
  });
}

function same(a: string, b: string): boolean {
  return b !== '' && canonical(JSON.parse(a) as Json) === canonical(JSON.parse(b) as Json);
}

function isWithin(file: string, wanted: string): boolean {
  const name = file.replace(/^settled\//, '').replace(/\.jsonl\.gz$/, '');
  return `${name}/`.startsWith(`${wanted}/`);
}
