import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Running,
  readEvents,
  readRunning,
  record,
  startRecord,
  type TestEvent,
  writeSettings,
} from './run-record.ts';

/** A process that tries one mutant for longer hangs. Far more than the time that a run in it has, because the machine may be busy. */
const HUNG_MS = 60_000;

/** Rounds without progress after which the rest is abandoned. */
const MAX_IDLE_ROUNDS = 3;

/** Slower tests, in CPU time, wait for the second round, when few mutants are left. */
const LATER_MS = 20;

/** In JSON, unlike Infinity. */
const MAX = Number.MAX_SAFE_INTEGER;

export interface TestRunOptions {
  readonly tests: readonly string[];
  readonly workers: number;
  readonly slowMs: number;
}

/** Runs the tests against all mutants that they reach, in rounds of fresh processes, until none is left to try. */
export async function runTests({ tests, workers, slowMs }: TestRunOptions): Promise<void> {
  startRecord();
  let files: readonly string[] = globSync([...tests]).filter((file) => !file.endsWith('.int.test.ts'));
  for (let round = 1, idle = 0; files.length > 0; round++) {
    const before = progress();
    writeSettings({ files, workers, ...(round === 1 ? { laterMs: LATER_MS, slowMs } : { laterMs: MAX, slowMs: MAX }) });
    await runOnce(workers);
    idle = progress() > before ? 0 : idle + 1;
    files = unfinished(files);
    if (idle < MAX_IDLE_ROUNDS) continue;
    for (const file of files) record({ kind: 'abandoned', file });
    return;
  }
}

/** Each round loads files. What else it records is progress, unless an earlier round has recorded it too. */
const progress = (): number =>
  new Set(readEvents().flatMap((event) => (event.kind === 'loaded' ? [] : JSON.stringify(event)))).size;

function unfinished(files: readonly string[]): readonly string[] {
  const events = readEvents();
  const tests = new Map<string, TestEvent>();
  const done = new Set<string>();
  const expected = new Map<string, number>();
  for (const event of events) {
    if (event.kind === 'test') tests.set(event.id, event);
    if (event.kind === 'done') done.add(event.test);
    if (event.kind === 'loaded') expected.set(event.file, event.tests);
  }
  const doneIn = (file: string) => [...tests.values()].filter((test) => test.file === file && done.has(test.id)).length;
  return files.filter((file) => doneIn(file) < (expected.get(file) ?? Infinity));
}

/** Ends when all test processes have ended, or one of them hangs. */
async function runOnce(workers: number): Promise<void> {
  const vitest = join(import.meta.dirname, '../../node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', '--config', join(import.meta.dirname, 'vitest.config.ts'), '--root', process.cwd()];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const startedAt = Date.now();
  // Stryker, which started this process, was stopped.
  process.once('disconnect', () => child.kill('SIGKILL'));
  const watch = setInterval(() => {
    const hung = readRunning(workers).filter((running) => isHung(running, startedAt));
    if (hung.length === 0) return;
    for (const { mutant, test } of hung) {
      if (mutant !== undefined) record({ kind: 'detected', mutant, test, by: 'timeout' });
    }
    child.kill('SIGKILL');
  }, 1_000);
  try {
    await new Promise((resolve, reject) => {
      child.once('exit', resolve);
      child.once('error', reject);
    });
  } finally {
    clearInterval(watch);
  }
}

const isHung = ({ mutant, since }: Running, startedAt: number): boolean =>
  mutant !== undefined && since > startedAt && Date.now() - since > HUNG_MS;
