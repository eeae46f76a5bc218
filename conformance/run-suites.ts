import { spawn } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

export interface Suites {
  readonly projects: readonly ('unit' | 'integration' | 'nightly')[];
  /** Of test files, relative to the repository. */
  readonly patterns: readonly string[];
}

export interface SuiteResult {
  readonly passed: number;
  readonly failed: number;
  readonly output: string;
}

interface VitestResults {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
}

/** Runs vitest once, with additional environment variables. An error outside of tests counts as one failed test. */
export async function runSuites(
  { projects, patterns }: Suites,
  environment: Readonly<Record<string, string>>,
): Promise<SuiteResult> {
  const files = patterns.flatMap((pattern) => globSync(pattern, { cwd: root }));
  const directory = mkdtempSync(join(tmpdir(), 'sluice-suites-'));
  const results = join(directory, 'results.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${results}`];
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const chosen = projects.map((project) => `--project=${project}`);
  const child = spawn(process.execPath, [vitest, 'run', ...chosen, ...reporters, ...files], {
    cwd: root,
    env: { ...process.env, ...environment, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stop = () => void child.kill('SIGKILL');
  process.once('exit', stop);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const status = await new Promise((resolve) => child.once('close', resolve));
  process.off('exit', stop);
  const counted = read(results);
  rmSync(directory, { recursive: true, force: true });
  const failed = status === 0 ? 0 : Math.max(1, counted.numFailedTests);
  return { passed: counted.numPassedTests, failed, output };
}

function read(results: string): VitestResults {
  try {
    return JSON.parse(readFileSync(results, 'utf8')) as VitestResults;
  } catch {
    return { numPassedTests: 0, numFailedTests: 0 };
  }
}
