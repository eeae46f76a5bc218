import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const fillAttempts = 100;

/** A small file system in memory. Requires root. It is removed when this process exits for any reason, including SIGKILL. */
export class SmallDisk {
  readonly directory: string;
  readonly #guard: ChildProcess;

  constructor(megabytes: number) {
    this.directory = mkdtempSync(join(tmpdir(), 'sluice-small-disk-'));
    mount('-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', this.directory);
    this.#guard = guard(this.directory);
  }

  grow(megabytes: number): void {
    mount('-o', `remount,size=${megabytes}m`, this.directory);
  }

  /** Leaves no free space. `grow` makes room again. */
  fill(): void {
    for (let attempt = 1; ; attempt++) {
      const { blocks, bfree, bsize } = statfsSync(this.directory);
      try {
        return mount('-o', `remount,size=${(blocks - bfree) * bsize}`, this.directory);
      } catch (error) {
        // A server has written meanwhile.
        if (attempt === fillAttempts) throw error;
      }
    }
  }

  remove(): void {
    this.#guard.kill('SIGKILL');
    execFileSync('umount', ['--lazy', this.directory]);
    rmSync(this.directory, { recursive: true });
  }

  /** Whether this process may mount one. */
  static get possible(): boolean {
    try {
      new SmallDisk(1).remove();
      return true;
    } catch {
      return false;
    }
  }
}

function mount(...args: readonly string[]): void {
  execFileSync('mount', args, { stdio: 'pipe' });
}

/** A shell that removes the file system when its standard input is closed, which happens when this process exits. */
function guard(directory: string): ChildProcess {
  const child = spawn('/bin/sh', ['-c', 'read -r _; umount -l "$1"; rmdir "$1"', 'guard', directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', () => {});
  child.unref();
  if (child.stdin !== null && 'unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref();
  return child;
}
