import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LocalError } from './local-error.ts';

/** The version that go.mod pins; the binaries would not know it themselves. */
export const KUBERNETES_VERSION = 'v1.36.3';

/** The folder of go.mod and go.sum. */
const MODULE = dirname(dirname(fileURLToPath(import.meta.url)));
const OLDEST_GO = '1.26';

/** The paths of the built programs. etcd's program is called `server` after its module. */
export interface Binaries {
  readonly etcd: string;
  readonly kubeApiserver: string;
  readonly kubeControllerManager: string;
  readonly kubectl: string;
}

/** Where everything of ours is kept between runs: `$XDG_CACHE_HOME/sluice` or `~/.cache/sluice`. */
export function cacheDirectory(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'sluice');
}

/**
 * The programs of the control plane, built from go.mod at the first call (minutes when Go's cache is cold, seconds
 * when warm) and taken from the cache afterwards.
 *
 * @throws LocalError `go-missing`, `go-too-old` or `build-failed`
 */
export async function ensureBinaries(say: (line: string) => void = () => {}): Promise<Binaries> {
  const directory = join(cacheDirectory(), 'servers', fingerprint(), 'bin');
  if (!existsSync(directory)) await build(directory, say);
  return {
    etcd: join(directory, 'server'),
    kubeApiserver: join(directory, 'kube-apiserver'),
    kubeControllerManager: join(directory, 'kube-controller-manager'),
    kubectl: join(directory, 'kubectl'),
  };
}

async function build(directory: string, say: (line: string) => void): Promise<void> {
  await checkGo();
  const started = performance.now();
  const elapsed = () => `${Math.round((performance.now() - started) / 1000)} s`;
  say(
    `building etcd, kube-apiserver, kube-controller-manager and kubectl ${KUBERNETES_VERSION} (once; up to 15 minutes)`,
  );
  // Built aside and renamed: an interrupted build leaves nothing that looks finished, and two builds don't mix.
  const parent = dirname(directory);
  const unfinished = join(parent, `bin.${process.pid}`);
  const log = join(parent, `build.${process.pid}.log`);
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  const ticking = setInterval(() => say(`still building, ${elapsed()}`), 30_000);
  try {
    const flags = `-s -w -X k8s.io/component-base/version.gitVersion=${KUBERNETES_VERSION}`;
    const status = await go(['build', '-trimpath', '-ldflags', flags, '-o', `${unfinished}/`, 'tool'], log);
    if (status !== 0) {
      const tail = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-20).join('\n  ');
      throw new LocalError('build-failed', `the control plane could not be built:\n\n  ${tail}\n\nwhole log: ${log}`);
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
async function checkGo(): Promise<void> {
  const hint = `install Go ${OLDEST_GO} or newer (https://go.dev/dl) and see that "go" is on the PATH`;
  await new Promise<void>((resolve, reject) => {
    const child = spawn('go', ['env', 'GOVERSION'], { cwd: MODULE, stdio: ['ignore', 'ignore', 'pipe'] });
    let complaint = '';
    child.stderr.on('data', (chunk: Buffer) => {
      complaint += chunk.toString();
    });
    child.on('error', () => reject(new LocalError('go-missing', `the control plane is built with Go: ${hint}`)));
    child.on('close', (status) => {
      if (status === 0) resolve();
      else reject(new LocalError('go-too-old', `${complaint.trim()}\n${hint}`));
    });
  });
}

function go(args: readonly string[], log: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const output = openSync(log, 'w');
    const env = { ...process.env, GOWORK: 'off' };
    const child = spawn('go', [args[0] ?? '', '-buildvcs=false', ...args.slice(1)], {
      cwd: MODULE,
      env,
      stdio: ['ignore', output, output],
    });
    child.on('error', reject);
    child.on('close', (status) => resolve(status ?? 1));
  });
}

function fingerprint(): string {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${KUBERNETES_VERSION}\n`);
  for (const file of ['go.mod', 'go.sum']) hash.update(readFileSync(join(MODULE, file)));
  return hash.digest('hex').slice(0, 16);
}
