import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cacheDirectory, ensureBinaries } from './src/index.ts';

const CLUSTER = join(dirname(fileURLToPath(import.meta.url)), 'cluster');
const cache = mkdtempSync(join(tmpdir(), 'sluice-cluster-'));

interface Result {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command with its own cache directory, so that it does not touch the user's clusters. */
function cluster(...args: string[]): Promise<Result> {
  return new Promise((resolve) => {
    const env = { ...process.env, XDG_CACHE_HOME: cache };
    const child = execFile(CLUSTER, args, { env }, (_error, stdout, stderr) => {
      resolve({ status: child.exitCode ?? -1, stdout, stderr });
    });
  });
}

beforeAll(async () => {
  await ensureBinaries();
  mkdirSync(join(cache, 'sluice'));
  symlinkSync(join(cacheDirectory(), 'servers'), join(cache, 'sluice', 'servers'));
});

afterAll(async () => {
  await cluster('stop', '--all');
  rmSync(cache, { recursive: true, force: true });
});

describe('infra/local/cluster', () => {
  it('prints its usage, and rejects unknown commands and options with exit status 2', async () => {
    expect(await cluster('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('usage:') });
    expect(await cluster('frobnicate')).toMatchObject({ status: 2, stderr: expect.stringContaining('frobnicate') });
    expect(await cluster('start', '--nmae', 'x')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--nmae'),
    });
    expect(await cluster('start', '--name', '../x')).toMatchObject({ status: 2 });
    expect(await cluster('kubeconfig')).toMatchObject({ status: 2, stderr: expect.stringContaining('no cluster') });
    expect(await cluster('stop')).toMatchObject({ status: 0 });
  });

  it('starts a background cluster once, and leaves nothing behind when it stops it', async () => {
    const started = await cluster('start', '--name', 'one', '--rbac', '--controllers');
    expect(started).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('"one" is running at https://127.0.0.1:'),
    });
    expect(await cluster('start', '--name', 'one', '--rbac', '--controllers')).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('"one" is running'),
    });
    expect(await cluster('start', '--name', 'one')).toMatchObject({ status: 2 });

    const status = await cluster('status');
    for (const program of ['etcd', 'kube-apiserver', 'kube-controller-manager']) {
      expect(status.stdout).toMatch(new RegExp(`${program} +pid \\d+`));
    }
    const services = await cluster('kubectl', '--name', 'one', '--', 'get', 'services', '-o', 'name');
    expect(services).toMatchObject({ status: 0, stdout: 'service/kubernetes\n' });
    const kubeconfig = await cluster('kubeconfig', '--name', 'one', '--user', 'sluice');
    expect(kubeconfig.stdout.trim()).toMatch(/sluice\.kubeconfig$/);

    expect(await cluster('stop', '--name', 'one')).toMatchObject({ status: 0 });
    expect((await cluster('status')).stdout).toContain('no cluster');
    const processes = execFileSync('ps', ['-ww', '-eo', 'args=']).toString().split('\n');
    expect(processes.filter((line) => line.includes(join(cache, 'sluice', 'clusters')))).toEqual([]);
  });
});
