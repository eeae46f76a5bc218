import type { Controller } from '@sluice/controllers';
import type { PlannedMutations } from '@sluice/messages';
import type { Clock } from '@sluice/runtime';
import { Drawdown } from './drawdown.ts';

/**
 * What a look at the cluster showed: the removal is right, is not, or that could not be found out. Overtaken: it was right,
 * and the Pod has become ready since.
 */
export type RemovalCheck = 'confirmed' | 'refuted' | 'unknown' | 'overtaken';

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
/** Once so many looks in a row have shown that what is told is so, only one plan of several is looked at. */
const looksUntilTrusted = 20;
const looksAtOneOf = 10;

/**
 * Notices that a good part of the ready endpoints of one cluster is about to be removed at once: a list that is empty by
 * mistake would have that done (ADR 0029). Counts what the lanes of this process do; Services are spread over the lanes by
 * hash, so each process sees a fair sample of the cluster.
 */
export class RemovalBrake {
  readonly #options: RemovalBrakeOptions;
  /** Looks in a row that confirmed what they looked at, none of them a minute after the one before. */
  #confirmed = 0;
  #confirmedAt = Number.NEGATIVE_INFINITY;
  /** Plans that passed without a look since the last one. */
  #unseen = 0;
  readonly #controllers = new Map<Controller, { readonly drawdown: Drawdown; readonly left: Map<number, number> }>();

  constructor(options: RemovalBrakeOptions) {
    this.#options = options;
  }

  /** Counts a plan of a lane, and tells whether what it removes must be confirmed first. */
  mustConfirm({ controller, ready }: PlannedMutations, lane: number): boolean {
    const { percent, clock, lanes = () => 1 } = this.#options;
    if (ready === undefined || percent >= 100) return false;
    const { drawdown, left } = this.#of(controller);
    left.set(lane, Math.max(0, ready.total + ready.delta));
    // What is tried again was counted the first time.
    const lost = drawdown.add(ready.repeated ? 0 : ready.delta, clock.monotonic());
    if (ready.delta >= 0 || ready.released) return false;
    if (ready.repeated) return true;
    const all = left.values().reduce((sum, count) => sum + count, lost);
    return lost > floor * lanes() && lost * 100 > percent * all && this.#isDue();
  }

  /** A list that is wrong is wrong in most of what follows from it: a sample finds that out, for a tenth of the requests. */
  #isDue(): boolean {
    const isFresh = this.#options.clock.monotonic() - this.#confirmedAt < windowMs;
    if (!isFresh || this.#confirmed < looksUntilTrusted) return true;
    this.#unseen = (this.#unseen + 1) % looksAtOneOf;
    return this.#unseen === 0;
  }

  checked(result: RemovalCheck, message: string): void {
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
    const made = { drawdown: new Drawdown(windowMs), left: new Map<number, number>() };
    this.#controllers.set(controller, made);
    return made;
  }
}
