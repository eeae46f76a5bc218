/** Tests the tests: changes the code and looks whether they fail. See `--help`. */

import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { UsageError } from '@sluice/platform/process';
import { type Given, oneOf, parseCommandLine, runProgram, say } from '@sluice/program';
import type { MutantResult } from '@stryker-mutator/api/core';
import { limit, readScores, writeScores } from './recorded-scores.ts';
import { type Room, rooms } from './rooms.ts';
import { readEvents } from './run-record.ts';
import { type Counts, counted, score, sum, total } from './score.ts';
import { writePage } from './scores-page.ts';
import { showProgress } from './show-progress.ts';
import { testRoom } from './test-room.ts';
import { copyRepository } from './working-copy.ts';

const HELP = `usage: node infra/mutation/main.ts [options] [ROOM|PATH ...]      (or: npm run mutation -- ...)

Makes mutants of the code of a room, each with one small change, and runs the unit tests of the room against them. A mutant that
no test notices shows what the tests do not check. Prints the mutants per room and the score: the share that is noticed.
A PATH is a file, a directory or a glob in a room. Works on copies of the repository in .cache/mutation. Rooms: ${rooms.map(({ name }) => name).join(', ')}.

  --since REF     only mutants in files that differ from the Git commit REF
  --survivors     also print the mutants that no test noticed
  --record        write the scores to infra/mutation/scores.json and docs/contributing/mutation.md; later runs must reach them
  --output NAME   table or json (table)
  --workers N     test processes (the number of cores)

Files of a room that are not tested count as recorded. Exit status: 1 if a room scores less than its goal, or less than recorded while it has not reached the goal; 2 for a usage error.
`;

const root = join(import.meta.dirname, '../..');
const cache = join(root, '.cache/mutation');
const defaults = {
  since: undefined,
  survivors: false,
  record: false,
  output: 'table',
  workers: String(availableParallelism()),
} as const;

interface RoomResult {
  readonly room: string;
  readonly counts: Counts;
  readonly score: number;
  /** Of the whole room; files that were not tested count as recorded. */
  readonly roomScore: number;
  readonly limit: number;
  readonly seconds: number;
  readonly survivors: readonly MutantResult[];
}

async function main(): Promise<number> {
  const line = parseCommandLine({ options: defaults, positionals: true }, process.argv.slice(2));
  if (line !== 'help') return testRooms(line.positionals, line.options);
  process.stdout.write(HELP);
  return 0;
}

async function testRooms(wanted: readonly string[], options: Given<typeof defaults>): Promise<number> {
  const output = oneOf('output', options.output, ['table', 'json']);
  const workers = Number(options.workers);
  if (!Number.isSafeInteger(workers) || workers < 1) throw new UsageError('--workers: expected a positive integer');
  const chosen = wanted.length === 0 ? rooms.map((room) => ({ room, path: undefined })) : wanted.map(choice);
  const results: RoomResult[] = [];
  for (const { room, path } of chosen) {
    const files = options.since === undefined ? path : changedFiles(room, options.since);
    if (files?.length === 0) say(`${room.name}: no change since ${options.since}`);
    else results.push(await testOne(room, files, workers, options.record));
  }
  const failed = results.filter(({ roomScore, limit }) => roomScore < limit).length;
  if (output === 'json') {
    process.stdout.write(`${JSON.stringify(results.map(described), undefined, 2)}\n`);
  } else {
    print(results, options.survivors);
    process.stdout.write(`${results.length - failed} passed, ${failed} failed, 0 skipped\n`);
  }
  return failed > 0 ? 1 : 0;
}

interface Choice {
  readonly room: Room;
  /** A pattern of files; undefined for the whole room. */
  readonly path: readonly string[] | undefined;
}

function choice(text: string): Choice {
  const path = text.replace(/\/$/, '');
  const room = rooms.find(({ name, directory }) => name === path || `${path}/`.startsWith(`${directory}/`));
  if (room === undefined || !(room.name === path || globSync(path, { cwd: root }).length > 0)) {
    throw new UsageError(`"${text}" is no room and no path in one; rooms: ${rooms.map(({ name }) => name).join(', ')}`);
  }
  if (room.name === path || room.directory === path) return { room, path: undefined };
  return { room, path: [path.endsWith('.ts') ? path : `${path}/**/*.ts`] };
}

function changedFiles(room: Room, since: string): readonly string[] {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n');
  const changed = git('diff', '--name-only', since, '--', room.directory);
  const added = git('ls-files', '--others', '--exclude-standard', '--', room.directory);
  return [...changed, ...added].filter(
    (file) => /\/src\/.*(?<!\.test)\.ts$/.test(file) && existsSync(join(root, file)),
  );
}

async function testOne(room: Room, files: readonly string[] | undefined, workers: number, isRecorded: boolean) {
  say(`${room.name}: mutants of ${files === undefined ? 'all files' : files.join(', ')}`);
  const startedAt = performance.now();
  const copy = join(cache, room.name);
  copyRepository(root, copy);
  process.chdir(copy);
  const progress = showProgress(room.name);
  const mutants = await testRoom(room, { workers, ...(files !== undefined && { files }) }).finally(progress.stop);
  for (const event of readEvents()) {
    if (event.kind === 'abandoned') say(`${room.name}: ${event.file} was not completed; the score is a lower bound`);
  }
  process.chdir(root);
  const results = mutants.map((mutant) => ({ ...mutant, fileName: relative(copy, mutant.fileName) }));
  const tested = new Map(
    Object.entries(Object.groupBy(results, ({ fileName }) => fileName)).map(([path, of = []]) => [path, counted(of)]),
  );
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, `${room.name}.json`), JSON.stringify(results));
  const scores = readScores();
  const recorded = scores[room.name];
  const others = files === undefined ? {} : recorded?.files;
  const all = { ...others, ...Object.fromEntries(tested) };
  if (isRecorded) {
    const updated = { ...scores, [room.name]: { ...commitAndDate(), files: all } };
    writeScores(updated);
    writePage(updated);
  }
  const counts = counted(results);
  return {
    room: room.name,
    counts,
    score: score(counts),
    roomScore: score(sum(Object.values(all))),
    limit: limit(room, recorded),
    seconds: Math.round((performance.now() - startedAt) / 1_000),
    survivors: results.filter(({ status }) => status === 'Survived' || status === 'NoCoverage'),
  };
}

function commitAndDate() {
  const commit = execFileSync('git', ['rev-parse', '--short=8', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  return { commit, date: new Date().toISOString().slice(0, 10) };
}

const described = ({ survivors, ...result }: RoomResult) => ({
  ...result,
  survivors: survivors.map(({ fileName, location, mutatorName, replacement, status }) => ({
    file: fileName,
    line: location.start.line,
    column: location.start.column,
    mutator: mutatorName,
    replacement,
    status,
  })),
});

function print(results: readonly RoomResult[], withSurvivors: boolean): void {
  const rows = [
    ['room', 'mutants', 'killed', 'timeout', 'survived', 'no coverage', 'score', 'room', 'at least', 'time'],
  ];
  for (const { room, counts, seconds, ...result } of results) {
    const { killed, timeout, survived, uncovered } = counts;
    const numbers = [total(counts), killed, timeout, survived, uncovered].map(String);
    rows.push([
      room,
      ...numbers,
      ...[result.score, result.roomScore, result.limit].map((share) => `${share.toFixed(2)} %`),
      `${seconds} s`,
    ]);
  }
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  for (const row of rows) {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    process.stdout.write(`${cells.join('  ')}\n`);
  }
  if (!withSurvivors) return;
  for (const mutant of results.flatMap(({ survivors }) => survivors)) {
    const { fileName, location, mutatorName, replacement, status, coveredBy } = mutant;
    const tests = status === 'NoCoverage' ? 'no test' : `${coveredBy?.length ?? 0} tests`;
    const text = replacement?.replaceAll(/\s+/g, ' ').slice(0, 80);
    process.stdout.write(
      `${fileName}:${location.start.line}:${location.start.column}: ${mutatorName}: ${text} (${tests})\n`,
    );
  }
}

await runProgram(main);
