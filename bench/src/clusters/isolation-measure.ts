import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { cpuSeconds } from '../process-stats.ts';
import type { Shape } from '../shape.ts';
import { percentile } from '../statistics.ts';
import type { ClusterFault } from './fake-cluster.ts';
import { FakeClustersProcess } from './fake-clusters-process.ts';
import { completed, runOn } from './run.ts';

export const forms = ['refused', 'swallowed'] as const satisfies readonly ClusterFault[];
/** How the unreachable cluster fails. */
export type Round = (typeof forms)[number];

export interface IsolationOptions {
  /** Number of clusters, including the three faulty ones. */
  readonly clusters: number;
  readonly shape: Shape;
  /** Changes per second over all clusters. */
  readonly rate: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly forms: readonly Round[];
  readonly seed: number;
  /** Receives kubeconfigs and the log. */
  readonly directory: string;
  readonly say: (line: string) => void;
}

/** A measured span in which the three are healthy and idle, or faulty. */
export interface Phase {
  /** How the unreachable cluster fails; undefined if all clusters are healthy. */
  readonly form: Round | undefined;
  /** Latencies of the healthy clusters, in milliseconds. */
  readonly latencies: readonly number[];
  readonly missing: number;
  /** Per change in a healthy cluster. */
  readonly cpuMsPerChange: number;
  /** Per faulty cluster: from its repair until its slices are up to date; NaN if they never were. */
  readonly recoverySeconds: readonly number[];
}

/** Maximum time for a repaired cluster to recover: longer than any backoff. */
const recoveryMs = 90_000;
/** Maximum time for the start. */
const timeoutSeconds = 60;
const bad = 3;

/** Runs one process of Sluice throughout; alternates between all clusters healthy and three faulty. */
export async function measureIsolation(options: IsolationOptions): Promise<readonly Phase[]> {
  const { shape, seed, seconds, clusters, rounds, forms, directory, say } = options;
  const good = clusters - bad;
  const kubeconfigs = join(directory, 'kubeconfigs');
  mkdirSync(kubeconfigs);
  const fakes = await FakeClustersProcess.start({ clusters, shape, seed, directory: kubeconfigs, behindNetwork: bad });
  const sluice = await runOn(kubeconfigs, directory);
  const pid = sluice.pid ?? 0;
  await completed(() => fakes.request('incomplete', clusters), timeoutSeconds);
  await fakes.request('flip', { rate: options.rate, seconds: 10, among: clusters, measured: clusters });
  const phase = async (form: Round | undefined): Promise<Phase> => {
    const faults: readonly ClusterFault[] = form === undefined ? [] : [form, 'slow', 'throttled'];
    for (const [i, how] of faults.entries()) await fakes.request('inject', good + i, how);
    // The healthy clusters get the same number of changes in both cases.
    const among = good + faults.length;
    const rate = (options.rate * among) / clusters;
    const before = cpuSeconds(pid);
    // First failures and backing off are part of the measurement.
    const { flips, latencies, missing } = await fakes.request('flip', { rate, seconds, among, measured: good });
    const cpu = cpuSeconds(pid) - before;
    for (const [i, how] of faults.entries()) await fakes.request('repair', good + i, how);
    const recovered = await Promise.all(faults.map((_, i) => fakes.request('measureRecovery', good + i, recoveryMs)));
    const recoverySeconds = recovered.map((ms) => ms / 1000);
    const recovery = recoverySeconds.map((each) => each.toFixed(1)).join(', ');
    say(
      `${form ?? 'all healthy'}: p99 ${percentile(latencies, 0.99).toFixed(1)} ms${recovery && `, recovered after ${recovery} s`}`,
    );
    return { form, latencies, missing, recoverySeconds, cpuMsPerChange: (cpu * 1000) / ((flips * good) / among) };
  };
  const phases: Phase[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const form of forms) phases.push(await phase(undefined), await phase(form));
  }
  if (sluice.pid !== pid) throw new Error(`sluice exited; see its log in ${directory}`);
  await sluice.stop(20_000);
  fakes.stop();
  return phases;
}
