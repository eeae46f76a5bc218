import type { Controller } from '@sluice/controllers';
import type { PlannedMutations } from '@sluice/messages';
import type { Clock } from '@sluice/runtime';
import { type CheckResult, CheckSampling } from './check-sampling.ts';
import { DropFromPeak } from './drop-from-peak.ts';

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
  readonly onChecked?: (result: CheckResult, message: string) => void;
}

const windowMs = 60_000;
/** Removals below this number of ready endpoints per cluster need no confirmation, whatever their share. */
const floor = 20;

/**
 * Detects that a large share of a cluster's ready endpoints is about to be removed within a minute, as an erroneously
 * empty list would cause (ADR 0029). It counts the plans of this process. Services are spread over partitions by hash,
 * so each process sees a representative sample of the cluster.
 */
export class MassRemovalGuard {
  readonly #options: MassRemovalGuardOptions;
  readonly #sampling: CheckSampling;
  readonly #controllers = new Map<
    Controller,
    { readonly drop: DropFromPeak; readonly remaining: Map<number, number> }
  >();

  constructor(options: MassRemovalGuardOptions) {
    this.#options = options;
    this.#sampling = new CheckSampling(options.clock);
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
    return lost > floor * partitionShare() && lost * 100 > percent * all && this.#sampling.isDue();
  }

  recordCheck(result: CheckResult, message: string): void {
    this.#sampling.record(result);
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
