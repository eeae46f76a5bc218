import type { Controller } from '@sluice/controllers';
import type { PlannedMutations, ReadyEndpointsDelta } from '@sluice/messages';
import type { Clock } from '@sluice/runtime';
import { type CheckResult, CheckSampling } from './check-sampling.ts';
import { DropFromPeak } from './drop-from-peak.ts';
import { RecentSum } from './recent-sum.ts';

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
    // A retried plan was counted the first time.
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
