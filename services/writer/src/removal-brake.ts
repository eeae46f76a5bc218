import type { Controller } from '@sluice/controllers';
import type { PlannedMutations } from '@sluice/messages';
import type { Clock } from '@sluice/runtime';
import { Drawdown } from './drawdown.ts';

/** What a look at the cluster showed: the removal is right, is not, or that could not be found out. */
export type RemovalCheck = 'confirmed' | 'refuted' | 'unknown';

export interface RemovalBrakeOptions {
  /**
   * What is removed of a cluster's ready endpoints within a minute beyond this part of them, in percent, must be confirmed.
   * 100: nothing must.
   */
  readonly percent: number;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** The part of all lanes that this process works, 0 to 1. Default: all of them. */
  readonly lanes?: () => number;
  /** Told of each look, and of what was held back for it. */
  readonly onChecked?: (result: RemovalCheck, message: string) => void;
}

const windowMs = 60_000;
/** So few ready endpoints of a cluster may go without being looked at, whatever part of it they are. */
const floor = 20;

/**
 * Notices that a good part of the ready endpoints of one cluster is about to be removed at once: a list that is empty by
 * mistake would have that done (ADR 0028). Counts what the lanes of this process do; Services are spread over the lanes by
 * hash, so each process sees a fair sample of the cluster.
 */
export class RemovalBrake {
  readonly #options: RemovalBrakeOptions;
  readonly #controllers = new Map<Controller, { readonly drawdown: Drawdown; readonly left: Map<number, number> }>();

  constructor(options: RemovalBrakeOptions) {
    this.#options = options;
  }

  /** Counts a plan of a lane, and tells whether what it removes must be confirmed first. */
  mustConfirm({ controller, ready }: PlannedMutations, lane: number): boolean {
    const { percent, clock, lanes = () => 1 } = this.#options;
    if (ready === undefined || percent >= 100) return false;
    const { drawdown, left } = this.#of(controller);
    left.set(lane, Math.max(0, ready.of + ready.by));
    // What is tried again was counted the first time.
    const lost = drawdown.add(ready.again ? 0 : ready.by, clock.monotonic());
    if (ready.by >= 0 || ready.released) return false;
    if (ready.again) return true;
    const all = left.values().reduce((sum, count) => sum + count, lost);
    return lost > floor * lanes() && lost * 100 > percent * all;
  }

  checked(result: RemovalCheck, message: string): void {
    this.#options.onChecked?.(result, message);
  }

  #of(controller: Controller) {
    const known = this.#controllers.get(controller);
    if (known !== undefined) return known;
    const made = { drawdown: new Drawdown(windowMs), left: new Map<number, number>() };
    this.#controllers.set(controller, made);
    return made;
  }
}
