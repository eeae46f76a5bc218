import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureBinaries } from './binaries.ts';
import { LocalError } from './local-error.ts';

/** The permissions of Sluice in a cluster; the same file that users apply. */
export const RBAC_FILE = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'kubernetes', 'rbac.yaml');

/**
 * Runs the pinned kubectl and returns its standard output.
 *
 * @throws LocalError `kubectl` with its standard error if it fails
 */
export async function kubectl(kubeconfig: string, args: readonly string[], input = ''): Promise<string> {
  const { kubectl: program } = await ensureBinaries();
  return new Promise((resolve, reject) => {
    const options = { maxBuffer: 64 * 1024 * 1024 };
    const child = execFile(program, ['--kubeconfig', kubeconfig, ...args], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else
        reject(
          new LocalError('kubectl', `kubectl ${args.join(' ')}: ${stderr.trim() || stdout.trim() || error.message}`),
        );
    });
    // One that ends before it has read its input says why by its exit status.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}
