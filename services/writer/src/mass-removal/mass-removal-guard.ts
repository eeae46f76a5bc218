import type { Controller } from '@sluice/controllers';
import type { PlannedMutations } from '@sluice/messages';
import type { Clock } from '@sluice/runtime';
import { DropFromPeak } from './drop-from-peak.ts';

/**
 * Result of checking a removal against the cluster. `overtaken`: the removal was right, but the Pod has become ready
 * since.
 */
export type RemovalCheck = 'confirmed' | 'refuted' | 'unknown' | 'overtaken';

export interface MassRemovalGuardOptions {
  /**
   * Removals beyond this percentage of a cluster's ready endpoints within a minute need confirmation. 100 turns the
   * guard off.
   */
  readonly percent: number;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Share of all partitions that this process owns, 0 to 1. Default: 1. */
  readonly partitionShare?: () => number;
  /** Called after each check, with the message of a plan that was held back. */
  readonly onChecked?: (result: RemovalCheck, message: string) => void;
}

const windowMs = 60_000;
/** Removals below this number of ready endpoints per cluster need no confirmation, whatever their share. */
const floor = 20;
/** After this many confirmations in a row, only one plan in `samplingInterval` is checked. */
const checksUntilSampling = 20;
const samplingInterval = 10;

/**
 * Detects that a large share of a cluster's ready endpoints is about to be removed within a minute, as an erroneously
 * empty list would cause (ADR 0029). It counts the plans of this process. Services are spread over partitions by hash,
 * so each process sees a representative sample of the cluster.
 */
export class MassRemovalGuard {
  readonly #options: MassRemovalGuardOptions;
  /** Confirmations in a row, each within a minute of the previous one. */
  #confirmed = 0;
  #confirmedAt = Number.NEGATIVE_INFINITY;
  /** Plans that passed unchecked since the last check. */
  #unchecked = 0;
  readonly #controllers = new Map<
    Controller,
    { readonly drop: DropFromPeak; readonly remaining: Map<number, number> }
  >();

  constructor(options: MassRemovalGuardOptions) {
    this.#options = options;
  }

  /** Counts a plan of a partition. Returns whether its removals need confirmation. */
  requiresConfirmation({ controller, ready }: PlannedMutations, partition: number): boolean {
    const { percent, clock, partitionShare = () => 1 } = this.#options;
    if (ready === undefined || percent >= 100) return false;
    const { drop, remaining } = this.#of(controller);
    remaining.set(partition, Math.max(0, ready.total + ready.delta));
    // A retried plan was counted the first time.
    const lost = drop.add(ready.repeated ? 0 : ready.delta, clock.monotonic());
    if (ready.delta >= 0 || ready.released) return false;
    if (ready.repeated) return true;
    const all = remaining.values().reduce((sum, count) => sum + count, lost);
    return lost > floor * partitionShare() && lost * 100 > percent * all && this.#isDue();
  }

  /** A wrong list is wrong in most plans that follow from it, so a sample finds it for a tenth of the requests. */
  #isDue(): boolean {
    const isFresh = this.#options.clock.monotonic() - this.#confirmedAt < windowMs;
    if (!isFresh || this.#confirmed < checksUntilSampling) return true;
    this.#unchecked = (this.#unchecked + 1) % samplingInterval;
    return this.#unchecked === 0;
  }

  recordCheck(result: RemovalCheck, message: string): void {
    if (result === 'confirmed') {
      const now = this.#options.clock.monotonic();
      this.#confirmed = now - this.#confirmedAt < windowMs ? this.#confirmed + 1 : 1;
      this.#confirmedAt = now;
    } else if (result !== 'overtaken') this.#confirmed = 0;
    this.#options.onChecked?.(result, message);
  }

  #of(controller: Controller) {
    const known = this.#controllers.get(controller);
    if (known !== undefined) return known;
    const made = { drop: new DropFromPeak(windowMs), remaining: new Map<number, number>() };
    this.#controllers.set(controller, made);
    return made;
  }
}
