import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheDirectory } from './cache-directory.ts';
import { LocalError } from './local-error.ts';

const OLDEST_GO = '1.26';

/** Programs that a go.mod names in its `tool` lines. */
export interface GoPrograms {
  /** For messages, for example `etcd and kubectl v1.2`. */
  readonly title: string;
  /** Of a cold build, for messages, for example `15 minutes`. */
  readonly maxBuildTime: string;
  /** The folder of go.mod and go.sum. */
  readonly module: string;
  /** Their Go packages, or `tool` for all of go.mod. */
  readonly packages: readonly string[];
  /** Part of the cache key besides go.mod, go.sum, packages and tags. */
  readonly version: string;
  readonly linkerFlags: string;
  /** Build tags, separated by commas. Default none. */
  readonly tags?: string;
}

/**
 * Returns the folder of the programs. Builds them unless the cache has them.
 *
 * @throws LocalError `go-missing`, `go-too-old` or `build-failed`
 */
export async function ensureGoPrograms(programs: GoPrograms, say: (line: string) => void): Promise<string> {
  const directory = join(cacheDirectory(), 'servers', fingerprint(programs), 'bin');
  if (!existsSync(directory)) {
    const building = builds.get(directory) ?? build(programs, directory, say).finally(() => builds.delete(directory));
    builds.set(directory, building);
    await building;
  }
  return directory;
}

/** Builds of this process, by the folder of the programs: several servers that start together share one. */
const builds = new Map<string, Promise<void>>();

async function build(programs: GoPrograms, directory: string, say: (line: string) => void): Promise<void> {
  const { title, module, packages, linkerFlags, tags = '' } = programs;
  await checkGo(programs);
  const started = performance.now();
  const elapsed = () => `${Math.round((performance.now() - started) / 1000)} s`;
  say(`building ${title} (once; up to ${programs.maxBuildTime})`);
  // Build elsewhere and rename, so that an interrupted build is not taken for a complete one and builds do not mix.
  const parent = dirname(directory);
  const unfinished = join(parent, `bin.${process.pid}`);
  const log = join(parent, `build.${process.pid}.log`);
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  const progress = setInterval(() => say(`still building, ${elapsed()}`), 30_000);
  try {
    // The linker strips debug information (-s -w). Not generating it saves an eighth of the build time.
    const options = [
      '-buildvcs=false',
      '-trimpath',
      '-gcflags=all=-dwarf=false',
      '-tags',
      tags,
      '-ldflags',
      linkerFlags,
    ];
    const args = ['build', ...options, '-o', `${unfinished}/`, ...packages];
    const status = await go(module, args, log);
    if (status !== 0) {
      const tail = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-20).join('\n  ');
      throw new LocalError('build-failed', `cannot build ${title}:\n\n  ${tail}\n\nfull log: ${log}`);
    }
    moveIntoPlace(unfinished, directory);
    rmSync(log, { force: true });
    say(`built in ${elapsed()}`);
  } finally {
    clearInterval(progress);
    rmSync(unfinished, { recursive: true, force: true });
  }
}

function moveIntoPlace(unfinished: string, directory: string): void {
  try {
    renameSync(unfinished, directory);
  } catch (error) {
    // Another process has built the same programs meanwhile.
    if (!existsSync(directory)) throw error;
  }
}

/** Go compares its version with the `go` line of go.mod, and downloads a newer one if GOTOOLCHAIN allows it. */
async function checkGo({ title, module }: GoPrograms): Promise<void> {
  const hint = `install Go ${OLDEST_GO} or newer (https://go.dev/dl) and make sure that "go" is on the PATH`;
  await new Promise<void>((resolve, reject) => {
    const child = spawn('go', ['env', 'GOVERSION'], { cwd: module, stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    child.on('error', () => reject(new LocalError('go-missing', `Go is required to build ${title}: ${hint}`)));
    child.on('close', (status) => {
      if (status === 0) resolve();
      else reject(new LocalError('go-too-old', `${stderr.trim()}\n${hint}`));
    });
  });
}

function go(module: string, args: readonly string[], log: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const output = openSync(log, 'w');
    const env = { ...process.env, GOWORK: 'off' };
    const child = spawn('go', args, { cwd: module, env, stdio: ['ignore', output, output] });
    child.on('error', reject);
    child.on('close', (status) => resolve(status ?? 1));
  });
}

function fingerprint({ module, packages, version, tags = '' }: GoPrograms): string {
  const key = [process.platform, process.arch, version, tags, ...packages];
  const hash = createHash('sha256').update(`${key.join(' ')}\n`);
  for (const file of ['go.mod', 'go.sum']) hash.update(readFileSync(join(module, file)));
  return hash.digest('hex').slice(0, 16);
}
