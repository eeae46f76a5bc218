import type { PlannedMutations, ReadyEndpointsDelta } from '@sluice/messages';
import type { Controller } from '@sluice/model';
import type { Clock } from '@sluice/platform';
import { type CheckResult, CheckSampling } from './fresh-read.ts';

export interface MassChangeGuardOptions {
  /**
   * Changes beyond this percentage of a cluster's ready endpoints within a minute need confirmation. 100 turns the guard
   * off.
   */
  readonly percent: number;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Share of all partitions that this process owns, 0 to 1. Default: 1. */
  readonly partitionShare?: () => number;
  /** Called after each check, with the message of a plan that was held back. */
  readonly onChecked?: (result: CheckResult, message: string) => void;
}

export type Direction = 'removal' | 'addition';

/** Numbers of endpoints of one controller. */
interface RecentChange {
  /** Changed within the window. */
  readonly changed: number;
  /** Ready before the window. */
  readonly before: number;
  /** The number of which `changed` is a share. */
  readonly total: number;
}

/** Changes count together for this long, in milliseconds. */
const windowMs = 60_000;
/** Fewer changed endpoints per cluster need no confirmation, nor does a cluster that had no more ready ones before. */
const floor = 20;

/**
 * Detects that a large share of a cluster's endpoints is about to be removed within a minute, as an erroneously empty list would cause,
 * or gets new addresses, as another API server in its place would cause (ADR 0029). It counts the plans of this process. Services are
 * spread over partitions by hash, so each process sees a representative sample of the cluster.
 */
export class MassChangeGuard {
  readonly direction: Direction;
  readonly #options: MassChangeGuardOptions;
  readonly #sampling: CheckSampling;
  readonly #counts = new Map<Controller, Counts>();

  constructor(direction: Direction, options: MassChangeGuardOptions) {
    this.direction = direction;
    this.#options = options;
    this.#sampling = new CheckSampling(options.clock);
  }

  /** Counts a plan of a partition. Returns whether its changes need confirmation. */
  requiresConfirmation({ controller, ready: delta }: PlannedMutations, partition: number): boolean {
    const { percent, clock, partitionShare = () => 1 } = this.#options;
    if (delta === undefined || percent >= 100) return false;
    const counts = this.#counts.get(controller) ?? newCounts();
    this.#counts.set(controller, counts);
    counts.ready.set(partition, Math.max(0, delta.total + delta.delta));
    // A plan that was held back was counted the first time.
    const counted = delta.repeated ? undefined : delta;
    const { changed, before, total } = recentChange[this.direction](counts, counted, clock.monotonic());
    const concerns = this.direction === 'removal' ? delta.delta < 0 : delta.added !== undefined;
    if (!concerns || delta.released) return false;
    if (delta.repeated) return true;
    const threshold = floor * partitionShare();
    return changed > threshold && before > threshold && changed * 100 > percent * total && this.#sampling.isDue();
  }

  recordCheck(result: CheckResult, message: string): void {
    this.#sampling.record(result);
    this.#options.onChecked?.(result, message);
  }
}

/** Of the plans of one controller. */
interface Counts {
  readonly ready: PartitionTotals;
  /** How far the ready endpoints have dropped, or risen, within the window. */
  readonly drop: DropFromPeak;
  readonly added: RecentSum;
}

const newCounts = (): Counts => ({
  ready: new PartitionTotals(),
  drop: new DropFromPeak(windowMs),
  added: new RecentSum(windowMs),
});

type Count = (counts: Counts, delta: ReadyEndpointsDelta | undefined, now: number) => RecentChange;

/** Counts a plan's changes; undefined: none. */
const recentChange: Readonly<Record<Direction, Count>> = {
  removal({ ready, drop }, delta, now) {
    const changed = drop.add(delta?.delta ?? 0, now);
    return { changed, before: ready.total + changed, total: ready.total + changed };
  },
  // While a new cluster fills, there is nothing to replace.
  addition({ ready, drop, added }, delta, now) {
    const risen = drop.add(-(delta?.delta ?? 0), now);
    return { changed: added.add(delta?.added?.count ?? 0, now), before: ready.total - risen, total: ready.total };
  },
};

/** Ready endpoints after the last plan of each partition. */
class PartitionTotals {
  readonly #byPartition = new Map<number, number>();
  total = 0;

  set(partition: number, count: number): void {
    this.total += count - (this.#byPartition.get(partition) ?? 0);
    this.#byPartition.set(partition, count);
  }
}

/** Intervals that a window is divided into. */
const intervals = 60;

/** The sum of samples within a sliding time window, exact to a sixtieth of the window. */
export class RecentSum {
  readonly #intervalMs: number;
  readonly #sums: { readonly interval: number; sum: number }[] = [];
  #total = 0;

  constructor(windowMs: number) {
    this.#intervalMs = windowMs / intervals;
  }

  /** Adds a sample and returns the sum. */
  add(sample: number, now: number): number {
    const interval = Math.floor(now / this.#intervalMs);
    for (
      let first = this.#sums[0];
      first !== undefined && first.interval <= interval - intervals;
      first = this.#sums[0]
    ) {
      this.#total -= first.sum;
      this.#sums.shift();
    }
    if (sample !== 0) {
      const last = this.#sums.at(-1);
      if (last?.interval === interval) last.sum += sample;
      else this.#sums.push({ interval, sum: sample });
      this.#total += sample;
    }
    return this.#total;
  }
}

/**
 * How far a level has dropped below its peak within a sliding time window. A rise before the peak counts for nothing.
 */
export class DropFromPeak {
  readonly #windowMs: number;
  /**
   * Candidates for the peak of the current or a later window: descending levels, each with the last time it was held.
   */
  readonly #peaks: { level: number; until: number }[] = [];
  #level = 0;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Changes the level by `by` and returns its distance from the peak. */
  add(by: number, now: number): number {
    const peaks = this.#peaks;
    // The level has been unchanged until now.
    const last = peaks.at(-1);
    if (last?.level === this.#level) last.until = now;
    else this.#push(this.#level, now);
    this.#level += by;
    this.#push(this.#level, now);
    while (peaks[0] !== undefined && peaks[0].until < now - this.#windowMs) peaks.shift();
    return (peaks[0]?.level ?? this.#level) - this.#level;
  }

  #push(level: number, until: number): void {
    const peaks = this.#peaks;
    for (let last = peaks.at(-1); last !== undefined && last.level <= level; last = peaks.at(-1)) peaks.pop();
    peaks.push({ level, until });
  }
}
