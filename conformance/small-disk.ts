import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A small file system in memory. Requires root. */
export class SmallDisk {
  readonly directory: string;

  constructor(megabytes: number) {
    this.directory = mkdtempSync(join(tmpdir(), 'sluice-small-disk-'));
    mount('-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', this.directory);
  }

  grow(megabytes: number): void {
    mount('-o', `remount,size=${megabytes}m`, this.directory);
  }

  remove(): void {
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
