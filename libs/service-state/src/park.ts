import type { Controller } from '@sluice/controllers';
import type { ServiceState } from './service-state.ts';

/** Parks a controller of a Service: it decides nothing before `dueAt` or the next Change. A plan in flight stays in flight. */
export function park(
  state: ServiceState,
  controller: Controller,
  reason: string,
  now: number,
  dueAt: number | null,
): void {
  const before = state.controller(controller);
  state.setController(controller, { ...before, dueAt, parked: reason, parkedSince: before.parkedSince ?? now });
}
