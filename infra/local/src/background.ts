import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { cacheDirectory } from './cache-directory.ts';
import { startControlPlane } from './control-plane.ts';
import type { Identity } from './credentials.ts';
import { startKubeControllerManager } from './kube-controller-manager.ts';
import type { ServerProcess } from './server-process.ts';

/** A cluster in the background, as recorded in its `cluster.json`. */
export interface BackgroundCluster {
  readonly name: string;
  readonly directory: string;
  readonly url: string;
  readonly authorization: 'RBAC' | 'AlwaysAllow';
  readonly kubeconfigs: Readonly<Record<Identity, string>>;
  /** Process ids by program name, in start order. */
  readonly pids: Readonly<Record<string, number>>;
}

export interface StartOptions {
  readonly name: string;
  readonly authorization: 'RBAC' | 'AlwaysAllow';
  readonly kubeControllerManager: boolean;
}

const RECORD = 'cluster.json';

function clustersDirectory(): string {
  return join(cacheDirectory(), 'clusters');
}

/** The recorded cluster of that name, running or not. */
export function findCluster(name: string): BackgroundCluster | undefined {
  const file = join(clustersDirectory(), name, RECORD);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as BackgroundCluster) : undefined;
}

export function listClusters(): readonly BackgroundCluster[] {
  if (!existsSync(clustersDirectory())) return [];
  return readdirSync(clustersDirectory())
    .sort()
    .flatMap((name) => findCluster(name) ?? []);
}

/** Starts a cluster that outlives this process. First stops what is left of an earlier one with that name. */
export async function startCluster(options: StartOptions): Promise<BackgroundCluster> {
  const { name, authorization } = options;
  const directory = join(clustersDirectory(), name);
  const earlier = findCluster(name);
  if (earlier !== undefined) await stopCluster(earlier);
  const controlPlane = await startControlPlane({ directory, name, authorization });
  const processes: ServerProcess[] = [controlPlane.processes.etcd, controlPlane.processes.kubeApiserver];
  try {
    if (options.kubeControllerManager) {
      const serviceAccountCredentials = authorization === 'RBAC';
      processes.push(await startKubeControllerManager(controlPlane, { serviceAccountCredentials }));
    }
    const { url, kubeconfigs } = controlPlane;
    const pids = Object.fromEntries(processes.map((process) => [process.name, process.pid ?? 0]));
    const cluster: BackgroundCluster = { name, directory, url, authorization, kubeconfigs, pids };
    writeFileSync(join(directory, `${RECORD}.new`), `${JSON.stringify(cluster, undefined, 2)}\n`);
    renameSync(join(directory, `${RECORD}.new`), join(directory, RECORD));
    // Release the servers only now, so that an interrupted start leaves none running unrecorded.
    for (const process of processes) process.release();
    return cluster;
  } catch (error) {
    await controlPlane.stop();
    throw error;
  }
}

/** Stops its running programs in reverse start order and removes its directory. */
export async function stopCluster(cluster: BackgroundCluster): Promise<void> {
  for (const program of Object.keys(cluster.pids).reverse()) {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await ended(cluster, program, signal)) break;
    }
  }
  rmSync(cluster.directory, { recursive: true, force: true });
}

/** The cluster's running programs. Ignores process ids that belong to other programs by now. */
export async function runningPrograms(cluster: BackgroundCluster): Promise<readonly string[]> {
  const running: string[] = [];
  for (const [program, pid] of Object.entries(cluster.pids)) {
    if (await isOurs(pid, cluster.directory)) running.push(program);
  }
  return running;
}

async function ended(cluster: BackgroundCluster, program: string, signal: NodeJS.Signals): Promise<boolean> {
  const pid = cluster.pids[program] ?? 0;
  for (let attempt = 0; attempt < 60; attempt += 1) {
    if (!(await isOurs(pid, cluster.directory))) return true;
    if (attempt === 0) process.kill(pid, signal);
    await sleep(50);
  }
  return false;
}

/** Every server of the cluster has a file in the cluster's directory among its arguments. */
async function isOurs(pid: number, directory: string): Promise<boolean> {
  return pid !== 0 && (await commandLine(pid)).includes(`${directory}/`);
}

/** Empty if there is no such process or it is a zombie. */
async function commandLine(pid: number): Promise<string> {
  try {
    if (existsSync('/proc/self/cmdline')) return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    const { stdout } = await promisify(execFile)('ps', ['-ww', '-o', 'args=', '-p', String(pid)]);
    return stdout;
  } catch {
    return '';
  }
}
