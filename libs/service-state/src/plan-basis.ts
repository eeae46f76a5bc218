import type { Controller } from '@sluice/controllers';
import { comparePlans, compareStamps, type PlannedMutations } from '@sluice/messages';
import { decisionOrder } from './decision-order.ts';
import type { ServiceState } from './service-state.ts';

/** Numbers of the plans in flight of the other controllers. */
export function othersInFlight(state: ServiceState, controller: Controller): readonly number[] {
  const numbers: number[] = [];
  for (const other of decisionOrder) {
    const { inFlight } = state.controller(other);
    if (other !== controller && inFlight !== null) numbers.push(inFlight.message.plan.number);
  }
  return numbers;
}

/**
 * Whether the state is the one on which the plan was decided, or a later one; undefined if the plan does not say. A controller
 * decides only after the Outcome of its last plan.
 */
export function isBasisReached(
  state: ServiceState,
  { controller, plan, basis }: PlannedMutations,
): boolean | undefined {
  if (basis === undefined) return undefined;
  const { inFlight } = state.controller(controller);
  if (inFlight !== null && comparePlans(inFlight.message.plan, plan) < 0) return false;
  const isLater = compareStamps(state.snapshot.stamp, basis.stamp);
  if (isLater !== 0) return isLater > 0;
  const pending = othersInFlight(state, controller).filter((number) => number < plan.number);
  return pending.every((number) => basis.inFlight.includes(number));
}
