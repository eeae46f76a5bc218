import type { PlannedMutations } from '@sluice/messages';
import { applyPlan } from './apply-plan.ts';
import { compareClusters, type Difference } from './comparison/compare.ts';
import type { ClusterState } from './comparison/normalise.ts';
import { explainShadow, type ShadowContext, type ShadowExplanation } from './explain-shadow.ts';

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
