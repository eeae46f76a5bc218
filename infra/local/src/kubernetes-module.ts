import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheDirectory } from './cache-directory.ts';
import { LocalError } from './local-error.ts';

const run = promisify(execFile);

/**
 * Returns the folder of a go.mod that builds kube-apiserver and kube-controller-manager of a Kubernetes release with the
 * dependencies that the release pins. Go verifies each download with the checksum database.
 *
 * @throws LocalError `download-failed`
 */
export async function kubernetesModule(version: string): Promise<string> {
  const directory = join(cacheDirectory(), 'modules', `kubernetes-${version}`);
  if (existsSync(directory)) return directory;
  const unfinished = `${directory}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    writeFileSync(join(unfinished, 'go.mod'), 'module sluice/infra/local/download\n');
    const { stdout } = await go(unfinished, ['mod', 'download', '-json', `k8s.io/kubernetes@${version}`]);
    const { Dir: release } = JSON.parse(stdout) as { Dir: string };
    const goMod = readFileSync(join(release, 'go.mod'), 'utf8');
    writeFileSync(join(unfinished, 'go.mod'), moduleOf(goMod, version));
    writeFileSync(join(unfinished, 'go.sum'), readFileSync(join(release, 'go.sum')));
    // Completes go.sum, which the release has without its own modules.
    await go(unfinished, ['list', '-mod=mod', '-deps', 'tool']);
    if (!existsSync(directory)) renameSync(unfinished, directory);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return directory;
}

/**
 * A go.mod with the requirements of the release's own. Its staging modules, folders in the repository of Kubernetes, are
 * published as v0.x.y.
 */
export function moduleOf(goMod: string, version: string): string {
  const staging = version.replace(/^v1\./, 'v0.');
  const programs = ['kube-apiserver', 'kube-controller-manager'];
  return [
    goMod
      .replace(/^module k8s\.io\/kubernetes$/m, `module sluice/infra/local/kubernetes`)
      .replace(/^(\t\S+ => )\.\/staging\/src\/(\S+)$/gm, `$1$2 ${staging}`),
    `require k8s.io/kubernetes ${version}`,
    `tool (\n${programs.map((program) => `\tk8s.io/kubernetes/cmd/${program}\n`).join('')})\n`,
  ].join('\n');
}

async function go(cwd: string, args: readonly string[]): Promise<{ stdout: string }> {
  try {
    return await run('go', args, {
      cwd,
      env: { ...process.env, GOWORK: 'off', GOFLAGS: '' },
      maxBuffer: 256 * 1024 * 1024,
    });
  } catch (error) {
    const reason = (error as { stderr?: string }).stderr?.trim() || String(error);
    throw new LocalError('download-failed', `go ${args.join(' ')}: ${reason}`);
  }
}
