import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const source = join(import.meta.dirname, '../oracle');
const cache = join(import.meta.dirname, '../../.cache');

/** The Kubernetes release that `go.mod` names. */
export function pinnedVersion(directory: string = source): string {
  const path = join(directory, 'go.mod');
  const version = /k8s\.io\/kubernetes (v1\.\S+)/.exec(readFileSync(path, 'utf8'))?.[1];
  if (version === undefined) throw new Error(`${path}: no version of k8s.io/kubernetes`);
  return version;
}

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
  const now = pinnedVersion(directory);
  const go = (...args: string[]) =>
    execFileSync('go', args, { cwd: directory, stdio: ['ignore', 'inherit', 'inherit'] });
  if (now !== version) {
    const modules = (text: string) => text.replace(/^v1\./, 'v0.');
    writeFileSync(path, written.replaceAll(now, version).replaceAll(modules(now), modules(version)));
    go('mod', 'tidy');
  }
  // As the servers are built, so that both share the packages in Go's cache.
  const vendored = minorOf(version) < 35;
  if (vendored) {
    go('mod', 'vendor');
    backport(join(directory, 'vendor/k8s.io'));
  }
  const mode = vendored ? ['-mod=vendor'] : [];
  go('build', ...mode, '-buildvcs=false', '-trimpath', '-tags', olderThan(version), '-o', 'oracle', '.');
  return join(directory, 'oracle');
}

const minorOf = (version: string): number => Number(version.split('.')[1]);

/** Build tags of the files that fit the controllers of older releases. */
function olderThan(version: string): string {
  return [35, 36]
    .filter((changed) => minorOf(version) < changed)
    .map((changed) => `before_1_${changed}`)
    .join(',');
}

/**
 * Kubernetes 1.35 replaced MD5 by FNV in the hash that orders ports and subsets, and no longer rewrites Endpoints that
 * differ in order only (kubernetes/kubernetes#129652). Applies both to the controllers of an older release, so that the
 * scenarios, which contain objects in the new order, show all other differences.
 */
function backport(modules: string): void {
  const hash = (text: string) => text.replace('"crypto/md5"', '"hash/fnv"').replaceAll('md5.New()', 'fnv.New128a()');
  const equal = 'endpointSubsetsEqualIgnoreResourceVersion(currentEndpoints.Subsets, subsets)';
  const repacked = equal.replace('currentEndpoints.Subsets', 'endpoints.RepackSubsets(currentEndpoints.Subsets)');
  change(join(modules, 'endpointslice/util/controller_utils.go'), hash);
  change(join(modules, 'kubernetes/pkg/api/v1/endpoints/util.go'), hash);
  change(join(modules, 'kubernetes/pkg/controller/endpoint/endpoints_controller.go'), (text) =>
    text.replace(equal, `(${equal} || ${repacked})`),
  );
}

function change(file: string, edit: (text: string) => string): void {
  const text = readFileSync(file, 'utf8');
  const changed = edit(text);
  if (changed === text) throw new Error(`${file}: nothing to backport`);
  writeFileSync(file, changed);
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
