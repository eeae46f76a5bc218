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
  readonly rounds: number;
  readonly forms: readonly Round[];
  readonly seed: number;
  readonly say: (line: string) => void;
}

/** Some seconds in which the three are well and idle, or bad. */
export interface Phase {
  /** How the one is down; undefined: all are well. */
  readonly form: Round | undefined;
  /** Of the good ones, in milliseconds. */
  readonly latencies: readonly number[];
  readonly missing: number;
  /** For each change in a good one. */
  readonly cpuMsPerChange: number;
  /** Of each bad one: from the moment that it is well until all that happened in it is seen; NaN: it never was. */
  readonly recoverySeconds: readonly number[];
}

/** Longest wait for a bad cluster that is well again: longer than any pause between tries. */
const recoveryMs = 90_000;
/** Longest wait for the start. */
const patienceSeconds = 60;
const bad = 3;

/** One process of Sluice, which is not started anew meanwhile; in turn all clusters are well, and three are bad. */
export async function measureIsolation(options: IsolationOptions): Promise<readonly Phase[]> {
  const { shape, seed, seconds, clusters, rounds, forms, say } = options;
  const good = clusters - bad;
  const directory = mkdtempSync(join(tmpdir(), 'sluice-bench-isolation-'));
  const kubeconfigs = join(directory, 'kubeconfigs');
  mkdirSync(kubeconfigs);
  const worlds = await WorldsProcess.start({ clusters, shape, seed, directory: kubeconfigs, behindNetwork: bad });
  const sluice = await runOn(kubeconfigs, directory);
  const pid = sluice.pid ?? 0;
  await completed(worlds, clusters, patienceSeconds);
  await worlds.ask('flip', { rate: options.rate, seconds: 10, among: clusters, measured: clusters });
  const phase = async (form: Round | undefined): Promise<Phase> => {
    const spoilt: readonly Badness[] = form === undefined ? [] : [form, 'slow', 'throttled'];
    for (const [i, how] of spoilt.entries()) await worlds.ask('spoil', good + i, how);
    // As many changes in each good cluster, whether or not there are others.
    const among = good + spoilt.length;
    const rate = (options.rate * among) / clusters;
    const before = cpuSeconds(pid);
    // What fails at first, and how it backs off, is measured as well.
    const { flips, latencies, missing } = await worlds.ask('flip', { rate, seconds, among, measured: good });
    const cpu = cpuSeconds(pid) - before;
    for (const [i, how] of spoilt.entries()) await worlds.ask('heal', good + i, how);
    const recovered = await Promise.all(spoilt.map((_, i) => worlds.ask('settle', good + i, recoveryMs)));
    const recoverySeconds = recovered.map((ms) => ms / 1000);
    const told = recoverySeconds.map((each) => each.toFixed(1)).join(', ');
    say(
      `${form ?? 'all well'}: p99 ${percentile(latencies, 0.99).toFixed(1)} ms${told && `, right again after ${told} s`}`,
    );
    return { form, latencies, missing, recoverySeconds, cpuMsPerChange: (cpu * 1000) / ((flips * good) / among) };
  };
  const phases: Phase[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const form of forms) phases.push(await phase(undefined), await phase(form));
  }
  if (sluice.pid !== pid) throw new Error(`sluice ended; see ${directory}`);
  await sluice.stop(20_000);
  worlds.stop();
  // Left behind when something failed: the log is in it.
  const failed = phases.some(({ missing, recoverySeconds }) => missing > 0 || recoverySeconds.some(Number.isNaN));
  if (!failed) rmSync(directory, { recursive: true, force: true });
  return phases;
}
