import type { Controller } from '@sluice/controllers';
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
