import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cpuSeconds } from '../process-stats.ts';
import type { Shape } from '../shape.ts';
import { percentile } from '../statistics.ts';
import { completed, runOn } from './run.ts';
import type { Badness } from './world.ts';
import { WorldsProcess } from './worlds-process.ts';

export const forms = ['refused', 'swallowed'] as const satisfies readonly Badness[];
/** How the one is down. */
export type Round = (typeof forms)[number];

export interface IsolationOptions {
  /** With the three bad ones. */
  readonly clusters: number;
  readonly shape: Shape;
  /** In all clusters together. */
  readonly rate: number;
  readonly seconds: number;
  readonly seed: number;
}

export interface Isolation {
  /** Undefined: without the bad ones. */
  readonly form: Round | undefined;
  /** Of the good ones, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly missing: number;
  readonly cpuMsPerChange: number;
  /** Of each bad one: from its recovery until a change of it is seen; NaN: it never was. */
  readonly recoverySeconds: readonly number[];
}

/** Longest wait for a bad cluster that is well again: longer than any pause between tries. */
const recoveryMs = 90_000;
/** Longest wait for a start. */
const patienceSeconds = 60;

/** One run; each begins with new clusters and a new process. */
export async function measureIsolation(form: Round | undefined, options: IsolationOptions): Promise<Isolation> {
  const { shape, seed, seconds, clusters: all } = options;
  const good = all - 3;
  const bad: readonly Badness[] = form === undefined ? [] : [form, 'slow', 'throttled'];
  const clusters = good + bad.length;
  // As many changes in each good cluster as with the bad ones.
  const rate = (options.rate * clusters) / all;
  const directory = mkdtempSync(join(tmpdir(), 'sluice-bench-isolation-'));
  const kubeconfigs = join(directory, 'kubeconfigs');
  mkdirSync(kubeconfigs);
  const behindNetwork = bad.length;
  const worlds = await WorldsProcess.start({ clusters, shape, seed, directory: kubeconfigs, behindNetwork });
  const sluice = await runOn(kubeconfigs, directory);
  const pid = sluice.pid ?? 0;
  await completed(worlds, clusters, patienceSeconds);
  await worlds.ask('flip', { rate, seconds: 5, measured: clusters });
  for (const [i, how] of bad.entries()) await worlds.ask('spoil', good + i, how);
  // What fails at once, and how it backs off, is measured as well.
  const before = cpuSeconds(pid);
  const { flips, latencies, missing } = await worlds.ask('flip', { rate, seconds, measured: good });
  const cpu = cpuSeconds(pid) - before;
  for (const [i, how] of bad.entries()) await worlds.ask('heal', good + i, how);
  const recovered = await Promise.all(bad.map((_, i) => worlds.ask('probe', good + i, recoveryMs)));
  const running = sluice.pid === pid;
  if (!running) throw new Error(`sluice ended; see ${directory}`);
  await sluice.stop(20_000);
  worlds.stop();
  const recoverySeconds = recovered.map((ms) => ms / 1000);
  // Left behind when something failed: the log is in it.
  if (missing === 0 && !recoverySeconds.some(Number.isNaN)) rmSync(directory, { recursive: true, force: true });
  return {
    ...{ form, missing, recoverySeconds, cpuMsPerChange: (cpu * 1000) / ((flips * good) / clusters) },
    ...{ p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99), max: percentile(latencies, 1) },
  };
}
