import type { Controller } from '@sluice/controllers';
import type { PlannedMutations, ReadyEndpointsDelta } from '@sluice/messages';
import type { Clock } from '@sluice/runtime';
import { type CheckResult, CheckSampling } from './check-sampling.ts';

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

/** Numbers of endpoints of one controller. */
export interface RecentChange {
  /** Changed within the window. */
  readonly changed: number;
  /** Ready before the window. */
  readonly before: number;
  /** The number of which `changed` is a share. */
  readonly total: number;
}

/** Changes count together for this long, in milliseconds. */
export const windowMs = 60_000;
/** Fewer changed endpoints per cluster need no confirmation, nor does a cluster that had no more ready ones before. */
const floor = 20;

/**
 * Detects that a large share of a cluster's endpoints is about to change within a minute. It counts the plans of this
 * process. Services are spread over partitions by hash, so each process sees a representative sample of the cluster.
 */
export abstract class MassChangeGuard {
  readonly #options: MassChangeGuardOptions;
  readonly #sampling: CheckSampling;
  readonly #ready = new Map<Controller, PartitionTotals>();

  constructor(options: MassChangeGuardOptions) {
    this.#options = options;
    this.#sampling = new CheckSampling(options.clock);
  }

  /** Counts a plan of a partition. Returns whether its changes need confirmation. */
  requiresConfirmation({ controller, ready: delta }: PlannedMutations, partition: number): boolean {
    const { percent, clock, partitionShare = () => 1 } = this.#options;
    if (delta === undefined || percent >= 100) return false;
    const ready = getOrInsert(this.#ready, controller, () => new PartitionTotals());
    ready.set(partition, Math.max(0, delta.total + delta.delta));
    // A retried plan was counted the first time.
    const counted = delta.repeated ? undefined : delta;
    const { changed, before, total } = this.count(controller, counted, ready.total, clock.monotonic());
    if (!this.concerns(delta) || delta.released) return false;
    if (delta.repeated) return true;
    const threshold = floor * partitionShare();
    return changed > threshold && before > threshold && changed * 100 > percent * total && this.#sampling.isDue();
  }

  recordCheck(result: CheckResult, message: string): void {
    this.#sampling.record(result);
    this.#options.onChecked?.(result, message);
  }

  /** Whether the plan makes changes of the guarded kind. */
  protected abstract concerns(delta: ReadyEndpointsDelta): boolean;

  /** Counts the plan's changes; undefined: none. `ready`: endpoints of all partitions that are ready after it. */
  protected abstract count(
    controller: Controller,
    delta: ReadyEndpointsDelta | undefined,
    ready: number,
    now: number,
  ): RecentChange;
}

/** Ready endpoints after the last plan of each partition. */
class PartitionTotals {
  readonly #byPartition = new Map<number, number>();
  total = 0;

  set(partition: number, count: number): void {
    this.total += count - (this.#byPartition.get(partition) ?? 0);
    this.#byPartition.set(partition, count);
  }
}

/** The value of the key, made and kept if there is none. */
export function getOrInsert<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
