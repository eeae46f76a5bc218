import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Nothing that a unit test reads, and half of the repository. */
const notCopied = /^(docs\/images|conformance\/vectors\/settled)\//;

/**
 * Copies the files of the repository that Git knows or would add, so that an interrupted run leaves no mutated source behind.
 * Workspace packages are linked to their copies, all others to those of the repository.
 */
export function copyRepository(root: string, target: string): void {
  rmSync(target, { recursive: true, force: true });
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 })
      .split('\0')
      .filter(Boolean);
  const files = git('ls-files', '-z', '--cached', '--others', '--exclude-standard');
  const copied = files.filter((file) => !notCopied.test(file) && existsSync(join(root, file)));
  const directories = new Set(copied.map(dirname));
  for (const directory of directories) mkdirSync(join(target, directory), { recursive: true });
  for (const file of copied) cpSync(join(root, file), join(target, file));
  // A package of the workspace has relative links in its node_modules.
  for (const directory of directories) {
    const packages = join(root, directory, 'node_modules');
    if (directory === '.' || !existsSync(packages)) continue;
    cpSync(packages, join(target, directory, 'node_modules'), { recursive: true, verbatimSymlinks: true });
  }
  symlinkSync(join(root, 'node_modules'), join(target, 'node_modules'));
}
