import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asRecord, asString, seededRandom, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { type AutoscalerSpec, PodAutoscaler } from './pod-autoscaler.ts';
import { SimulatedFleet } from './simulated-fleet.ts';

/**
 * The autoscaler of infra/kubernetes with the load of a fleet that rises and falls, in virtual time. Workers have the lease
 * code and the metrics of real ones.
 */
const file = join(import.meta.dirname, '../../infra/kubernetes/components/autoscaling/autoscaler.yaml');

/** The autoscaler asks, and Prometheus scrapes, this often. */
const periodMs = 15_000;

/** More workers than this have no work. */
const partitions = 64;

interface Step {
  readonly seconds: number;
  readonly changesPerSecond: number;
}

interface Run {
  /** Each change of the number of workers. */
  readonly sizes: readonly { readonly atSeconds: number; readonly replicas: number }[];
  readonly gapsMs: readonly number[];
  /** Backlog at the end of each step, in Changes. */
  readonly backlogs: readonly number[];
  /** Number of workers at the end of each step. */
  readonly replicas: readonly number[];
}

async function run(seed: number, steps: readonly Step[], noise = 0): Promise<Run> {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  const random = seededRandom(seed);
  const fleet = new SimulatedFleet({ clock, random, partitions, costMs: 1.9, idleUtilization: 0.03 });
  const autoscaler = new PodAutoscaler({ ...specOf(file), maxReplicas: partitions });
  fleet.scaleTo(2, 0);
  const sizes: { atSeconds: number; replicas: number }[] = [];
  const backlogs: number[] = [];
  const replicas: number[] = [];
  let nextAt = periodMs;
  // What the autoscaler reads is one scrape old.
  let scraped: readonly number[] = [];
  const startedAt = clock.now();
  for (const { seconds, changesPerSecond } of steps) {
    const until = clock.now() + seconds * 1000;
    while (clock.now() < until) {
      const factor = 1 + noise * (2 * random.next() - 1);
      await advance(clock, fleet.step(changesPerSecond * factor));
      if (clock.now() - startedAt < nextAt) continue;
      nextAt += periodMs;
      const wanted = autoscaler.decide(clock.now(), fleet.size, scraped);
      if (wanted !== fleet.size) sizes.push({ atSeconds: (clock.now() - startedAt) / 1000, replicas: wanted });
      fleet.scaleTo(wanted);
      scraped = await fleet.scrape();
    }
    backlogs.push(fleet.backlog);
    replicas.push(fleet.size);
  }
  fleet.scaleTo(0);
  await advance(clock, 30_000);
  return { sizes, gapsMs: fleet.gapsMs, backlogs, replicas };
}

function specOf(path: string): AutoscalerSpec {
  const spec = asRecord(asRecord(load(readFileSync(path, 'utf8'))).spec);
  const [metric] = spec.metrics as readonly unknown[];
  const pods = asRecord(asRecord(metric).pods);
  expect(asString(asRecord(pods.metric).name)).toBe('sluice_desired_replicas');
  const behavior = asRecord(spec.behavior);
  const window = (direction: string) => Number(asRecord(behavior[direction]).stabilizationWindowSeconds);
  return {
    minReplicas: Number(spec.minReplicas),
    maxReplicas: Number(spec.maxReplicas),
    averageValue: Number(asString(asRecord(pods.target).averageValue)),
    scaleUpWindowSeconds: window('scaleUp'),
    scaleDownWindowSeconds: window('scaleDown'),
  };
}

const low = 400;
const high = 5 * low;

/** Changes of direction, up after down or down after up. */
function turns({ sizes }: Run): number {
  const directions = sizes.map(({ replicas }, i) => Math.sign(replicas - (sizes[i - 1]?.replicas ?? 2)));
  return directions.filter((direction, i) => i > 0 && direction !== directions[i - 1]).length;
}

describe('the autoscaler', () => {
  it('follows a load that rises fivefold and falls again, and changes direction once', async () => {
    const result = await run(1, [
      { seconds: 120, changesPerSecond: low },
      { seconds: 480, changesPerSecond: high },
      { seconds: 900, changesPerSecond: low },
    ]);
    // 2,000 Changes of 1.9 ms keep almost 4 processes busy, and so 7 at 60 %.
    expect(result.replicas).toEqual([2, 7, 2]);
    for (const { replicas } of result.sizes) expect(replicas).toBeLessThanOrEqual(7);
    expect(turns(result)).toBe(1);
    // Less than a second of work.
    for (const backlog of result.backlogs) expect(backlog).toBeLessThan(low);
    expect(result.gapsMs.length).toBeGreaterThan(partitions);
    expect(Math.max(...result.gapsMs)).toBeLessThan(200);
  });

  it('keeps the size that the peaks need while the load changes every two minutes', async () => {
    const steps = [high, low, high, low, high, low].map((changesPerSecond) => ({ seconds: 120, changesPerSecond }));
    const result = await run(2, steps, 0.5);
    expect(result.replicas.at(-1)).toBeGreaterThanOrEqual(7);
    expect(turns(result)).toBe(0);
    for (const { replicas } of result.sizes) expect(replicas).toBeLessThanOrEqual(9);
  });
});
