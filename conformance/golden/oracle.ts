import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const source = join(import.meta.dirname, '../oracle');
const cache = join(import.meta.dirname, '../../.cache');

/**
 * Builds the oracle with the controllers of a Kubernetes release `v1.x.y`, whose modules have version `v0.x.y`.
 * Requires Go and the Go module proxy; the first build takes minutes. Returns the path of the program.
 */
export function buildOracle(version: string): string {
  const directory = join(cache, `oracle-${version}`);
  mkdirSync(directory, { recursive: true });
  for (const file of readdirSync(source)) cpSync(join(source, file), join(directory, file));
  const path = join(directory, 'go.mod');
  const written = readFileSync(path, 'utf8');
  const now = /k8s\.io\/kubernetes (v1\.\S+)/.exec(written)?.[1];
  if (now === undefined) throw new Error(`${path}: no version of k8s.io/kubernetes`);
  const go = (...args: string[]) =>
    execFileSync('go', args, { cwd: directory, stdio: ['ignore', 'inherit', 'inherit'] });
  if (now !== version) {
    const modules = (text: string) => text.replace(/^v1\./, 'v0.');
    writeFileSync(path, written.replaceAll(now, version).replaceAll(modules(now), modules(version)));
    go('mod', 'tidy');
  }
  go('build', '-o', 'oracle', '.');
  return join(directory, 'oracle');
}

/** Sends lines to the oracle and returns its results in the same order. */
export async function askOracle(program: string, lines: readonly string[], repeat: number): Promise<string[]> {
  const oracle = spawn(program, ['-repeat', String(repeat)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve, reject) => oracle.on('error', reject).on('close', resolve));
  oracle.stdin.end(lines.map((line) => `${line}\n`).join(''));
  const answers: string[] = [];
  for await (const line of createInterface({ input: oracle.stdout })) answers.push(line);
  const status = await ended;
  if (status !== 0 || answers.length !== lines.length) {
    throw new Error(`oracle: ${answers.length} results for ${lines.length} lines, exit status ${status}`);
  }
  return answers;
}
