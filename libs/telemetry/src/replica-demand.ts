import type { Backlog } from './partition-lag.ts';

/** How busy the event loop of each replica is in a fleet of the right size. */
const targetUtilization = 0.6;

/** Time in which a fleet of the right size works off its backlog, in seconds. It may be fully busy meanwhile. */
const drainSeconds = 60;

/** The time over which a process measures its work, in milliseconds. */
const windowMs = 15_000;

/** Samples are this far apart at least, in milliseconds, so that frequent scrapes keep few of them. */
const sampleMs = 1_000;

/** What a process has done since its start. */
interface WorkDone {
  /** Time for which the event loop was busy, in milliseconds. */
  readonly busyMs: number;
  /** Changes processed. */
  readonly records: number;
}

interface Demand {
  /** Part of the time for which the event loop was busy, from 0 to 1. */
  readonly utilization: number;
  /** Time that the process needs for its unprocessed Changes if it does nothing else, in seconds. */
  readonly backlogSeconds: number;
  /** Replicas of a fleet of the right size that do the work of this process: the sum over a fleet is the size it needs. */
  readonly desiredReplicas: number;
}

interface Sample extends WorkDone {
  readonly at: number;
  readonly growth: number;
}

/** Measures the demand of one process. It samples when it is read: no timer wakes an idle process. */
export class ReplicaDemand {
  readonly #monotonic: () => number;
  readonly #done: () => WorkDone;
  /** Oldest first. */
  readonly #samples: Sample[];

  constructor(monotonic: () => number, done: () => WorkDone) {
    this.#monotonic = monotonic;
    this.#done = done;
    this.#samples = [{ at: monotonic(), growth: 0, ...done() }];
  }

  read({ records: unprocessed, growth }: Backlog): Demand {
    const now = { at: this.#monotonic(), growth, ...this.#done() };
    while ((this.#samples[1]?.at ?? now.at) <= now.at - windowMs) this.#samples.shift();
    const [first = now] = this.#samples;
    if (now.at - (this.#samples.at(-1)?.at ?? 0) >= sampleMs) this.#samples.push(now);
    const busyMs = now.busyMs - first.busyMs;
    const records = now.records - first.records;
    const elapsedMs = Math.max(1, now.at - first.at);
    // Without processed records their cost is unknown, and more replicas do not help a fleet that waits for its bus or store.
    const costMs = records > 0 ? busyMs / records : 0;
    const backlogSeconds = (unprocessed * costMs) / 1000;
    // A process that works off a backlog is busier than its load needs, and one that falls behind less.
    const load = Math.max(0, busyMs + (now.growth - first.growth) * costMs) / elapsedMs;
    return {
      utilization: Math.min(1, busyMs / elapsedMs),
      backlogSeconds,
      desiredReplicas: Math.max(load / targetUtilization, load + backlogSeconds / drainSeconds),
    };
  }
}
