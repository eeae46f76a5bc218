import type { Controller } from '@sluice/controllers';
import type { PlannedMutations } from '@sluice/messages';
import type { Clock } from '@sluice/runtime';
import { type CheckResult, CheckSampling } from './check-sampling.ts';
import { DropFromPeak } from './drop-from-peak.ts';
import { RecentSum } from './recent-sum.ts';

export interface MassAdditionGuardOptions {
  /**
   * New addresses beyond this percentage of a cluster's ready endpoints within a minute need confirmation. 100 turns the
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
/** Fewer new addresses per cluster need no confirmation, nor does a cluster that had no more ready endpoints before. */
const floor = 20;

interface Level {
  readonly added: RecentSum;
  /** How far the ready endpoints have risen within the window. */
  readonly rise: DropFromPeak;
  /** Ready endpoints after the last plan, by partition. */
  readonly ready: Map<number, number>;
}

/**
 * Detects that a large share of a cluster's endpoints gets new addresses within a minute, as another API server in its
 * place would cause (ADR 0059). It counts the plans of this process, like the mass-removal guard.
 */
export class MassAdditionGuard {
  readonly #options: MassAdditionGuardOptions;
  readonly #sampling: CheckSampling;
  readonly #levels = new Map<Controller, Level>();

  constructor(options: MassAdditionGuardOptions) {
    this.#options = options;
    this.#sampling = new CheckSampling(options.clock);
  }

  /** Counts a plan of a partition. Returns whether the addresses that it adds need confirmation. */
  requiresConfirmation({ controller, ready }: PlannedMutations, partition: number): boolean {
    const { percent, clock, partitionShare = () => 1 } = this.#options;
    if (ready === undefined || percent >= 100) return false;
    const now = clock.monotonic();
    const level = this.#levelOf(controller);
    const after = Math.max(0, ready.total + ready.delta);
    level.ready.set(partition, after);
    // A retried plan was counted the first time.
    const rise = level.rise.add(ready.repeated ? 0 : -ready.delta, now);
    const added = level.added.add(ready.repeated ? 0 : (ready.added?.count ?? 0), now);
    if (ready.added === undefined || ready.released) return false;
    if (ready.repeated) return true;
    const all = level.ready.values().reduce((sum, count) => sum + count, 0);
    const threshold = floor * partitionShare();
    // While a new cluster fills, there is nothing to replace.
    if (added <= threshold || all - rise <= threshold) return false;
    return added * 100 > percent * all && this.#sampling.isDue();
  }

  recordCheck(result: CheckResult, message: string): void {
    this.#sampling.record(result);
    this.#options.onChecked?.(result, message);
  }

  #levelOf(controller: Controller): Level {
    let level = this.#levels.get(controller);
    if (level === undefined) {
      level = { added: new RecentSum(windowMs), rise: new DropFromPeak(windowMs), ready: new Map() };
      this.#levels.set(controller, level);
    }
    return level;
  }
}
