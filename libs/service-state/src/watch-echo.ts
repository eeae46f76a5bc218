import type { Controller, MutationGroup } from '@sluice/controllers';
import type { ServiceState } from './service-state.ts';

/**
 * The watch may show our own write before its Outcome is here. If the plan in flight writes this object, what was seen
 * is noted and judged when the Outcome is in. True if it was noted.
 */
export function recordWatchEcho(
  view: ServiceState,
  controller: Controller,
  name: string,
  resourceVersion: string,
): boolean {
  const state = view.controller(controller);
  if (state.inFlight === null || !writes(state.inFlight.message.groups, name)) return false;
  const watchEchoes = { ...state.inFlight.watchEchoes, [name]: resourceVersion };
  view.setController(controller, { ...state, inFlight: { ...state.inFlight, watchEchoes } });
  return true;
}

function writes(groups: readonly MutationGroup[], name: string): boolean {
  return groups.some(({ mutations }) => mutations.some((m) => m.verb !== 'delete' && m.object.metadata.name === name));
}

/** The plan in flight deletes this object, so its absence is no news. */
export function deletes(view: ServiceState, controller: Controller, uid: string): boolean {
  const groups = view.controller(controller).inFlight?.message.groups ?? [];
  return groups.some(({ mutations }) => mutations.some((m) => m.verb === 'delete' && m.uid === uid));
}
