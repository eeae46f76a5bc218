import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheDirectory } from './cache-directory.ts';
import { LocalError } from './local-error.ts';

const OLDEST_GO = '1.26';

/** Programs that the `tool` lines of one go.mod name. */
export interface GoPrograms {
  /** What is built, for people: `etcd and kubectl v1.2`. */
  readonly title: string;
  /** How long a cold build takes at most, for people: `15 minutes`. */
  readonly patience: string;
  /** The folder of go.mod and go.sum. */
  readonly module: string;
  /** What the programs depend on beside go.mod and go.sum. */
  readonly version: string;
  readonly linkerFlags: string;
  /** Build tags, separated by commas. Default none. */
  readonly tags?: string;
}

/**
 * The folder of the built programs: built at the first call (long when Go's cache is cold) and taken from the cache
 * afterwards, as long as go.mod, go.sum and the version stay the same.
 *
 * @throws LocalError `go-missing`, `go-too-old` or `build-failed`
 */
export async function ensureGoPrograms(programs: GoPrograms, say: (line: string) => void): Promise<string> {
  const directory = join(cacheDirectory(), 'servers', fingerprint(programs), 'bin');
  if (!existsSync(directory)) await build(programs, directory, say);
  return directory;
}

async function build(programs: GoPrograms, directory: string, say: (line: string) => void): Promise<void> {
  const { title, module, linkerFlags, tags = '' } = programs;
  await checkGo(programs);
  const started = performance.now();
  const elapsed = () => `${Math.round((performance.now() - started) / 1000)} s`;
  say(`building ${title} (once; up to ${programs.patience})`);
  // Built aside and renamed: an interrupted build leaves nothing that looks finished, and two builds don't mix.
  const parent = dirname(directory);
  const unfinished = join(parent, `bin.${process.pid}`);
  const log = join(parent, `build.${process.pid}.log`);
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  const ticking = setInterval(() => say(`still building, ${elapsed()}`), 30_000);
  try {
    const options = ['-buildvcs=false', '-trimpath', '-tags', tags, '-ldflags', linkerFlags];
    const args = ['build', ...options, '-o', `${unfinished}/`, 'tool'];
    const status = await go(module, args, log);
    if (status !== 0) {
      const tail = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-20).join('\n  ');
      throw new LocalError('build-failed', `${title} could not be built:\n\n  ${tail}\n\nwhole log: ${log}`);
    }
    putInPlace(unfinished, directory);
    rmSync(log, { force: true });
    say(`built in ${elapsed()}`);
  } finally {
    clearInterval(ticking);
    rmSync(unfinished, { recursive: true, force: true });
  }
}

function putInPlace(unfinished: string, directory: string): void {
  try {
    renameSync(unfinished, directory);
  } catch (error) {
    // Another process was quicker with the same programs.
    if (!existsSync(directory)) throw error;
  }
}

/** Go itself compares its version with go.mod's `go` line, and fetches a newer one where GOTOOLCHAIN lets it. */
async function checkGo({ title, module }: GoPrograms): Promise<void> {
  const hint = `install Go ${OLDEST_GO} or newer (https://go.dev/dl) and see that "go" is on the PATH`;
  await new Promise<void>((resolve, reject) => {
    const child = spawn('go', ['env', 'GOVERSION'], { cwd: module, stdio: ['ignore', 'ignore', 'pipe'] });
    let complaint = '';
    child.stderr.on('data', (chunk: Buffer) => {
      complaint += chunk.toString();
    });
    child.on('error', () => reject(new LocalError('go-missing', `${title} cannot be built without Go: ${hint}`)));
    child.on('close', (status) => {
      if (status === 0) resolve();
      else reject(new LocalError('go-too-old', `${complaint.trim()}\n${hint}`));
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

function fingerprint({ module, version, tags = '' }: GoPrograms): string {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${version}${tags && ` ${tags}`}\n`);
  for (const file of ['go.mod', 'go.sum']) hash.update(readFileSync(join(module, file)));
  return hash.digest('hex').slice(0, 16);
}
