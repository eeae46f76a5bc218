import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printableLine, UsageError } from '@sluice/platform/process';
import { ownCheckout } from '../fleet/role-process.ts';

export interface EarlierCheckout {
  readonly directory: string;
  /** The full hash. */
  readonly commit: string;
  /** Deletes it. */
  remove(): void;
}

/**
 * Checks out a commit of this clone in a temporary directory and installs its packages. It is deleted when this process
 * exits.
 *
 * @throws UsageError if the clone does not have the commit
 */
export function checkOutEarlier(revision: string, clone = ownCheckout): EarlierCheckout {
  const found = run(clone, 'git', ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`]);
  if (found.status !== 0) {
    throw new UsageError(
      `--from: this clone has no commit ${printableLine(revision)}; fetch the history with "git fetch --unshallow", or pass another commit`,
    );
  }
  const commit = found.stdout.trim();
  const parent = mkdtempSync(join(tmpdir(), 'sluice-earlier-'));
  const directory = join(parent, 'sluice');
  const remove = () => {
    process.off('exit', remove);
    run(clone, 'git', ['worktree', 'remove', '--force', '--force', directory]);
    rmSync(parent, { recursive: true, force: true });
  };
  process.once('exit', remove);
  for (const [where, program, ...args] of [
    [clone, 'git', 'worktree', 'add', '--quiet', '--detach', directory, commit],
    [directory, process.execPath, 'infra/bootstrap/run.mjs', 'setup'],
  ] as const) {
    const { status, stderr } = run(where, program, args);
    if (status === 0) continue;
    remove();
    throw new Error(`cannot check out ${commit}: ${stderr.trim()}`);
  }
  return { directory, commit, remove };
}

function run(cwd: string, program: string, args: readonly string[]) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (error !== undefined) throw new Error(`cannot run ${program}: ${error.message}`);
  return { status, stdout, stderr };
}
