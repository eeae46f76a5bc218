import type { PlannedMutations } from '@sluice/messages';
import { applyPlan } from './apply-plan.ts';
import { compareClusters, type Difference } from './comparison/compare.ts';
import type { ClusterState } from './comparison/normalise.ts';
import { explainShadow, type ShadowContext, type ShadowExplanation } from './explain-shadow.ts';

export interface Percentiles {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Number of samples kept for the percentiles; the oldest are dropped. */
const kept = 10_000;

/** Durations in milliseconds with their percentiles. */
export class Samples {
  readonly #latest: number[] = [];
  #count = 0;
  #max = 0;

  add(ms: number): void {
    this.#latest[this.#count++ % kept] = ms;
    this.#max = Math.max(this.#max, ms);
  }

  /** By nearest rank; null without samples. */
  get percentiles(): Percentiles | null {
    const sorted = this.#latest.toSorted((a, b) => a - b);
    const at = (q: number) => tenths(sorted[Math.ceil(q * sorted.length) - 1] ?? 0);
    return this.#count === 0 ? null : { count: this.#count, p50: at(0.5), p99: at(0.99), max: tenths(this.#max) };
  }
}

const tenths = (ms: number): number => Math.round(ms * 10) / 10;

/** A field that Sluice would change. */
export interface Explained {
  readonly difference: Difference;
  /** Undefined if no rule explains it. */
  readonly explanation: ShadowExplanation | undefined;
}

/** `passed`: the cluster has changed since the plan was decided. `equal`: the plan changes nothing relevant. */
export type Examined = 'passed' | 'equal' | readonly Explained[];

/** Lists what a plan would change in the current objects, with the reasons. */
export function examine(
  state: ClusterState,
  plan: PlannedMutations,
  context: Omit<ShadowContext, 'state' | 'plan'>,
): Examined {
  const next = applyPlan(state, plan);
  if (next === undefined) return 'passed';
  const differences = compareClusters(state, next, { keepUids: true, triggerTime: 'drop' });
  if (differences.length === 0) return 'equal';
  return differences.map((difference) => ({
    difference,
    explanation: explainShadow(difference, { ...context, state, plan }),
  }));
}
