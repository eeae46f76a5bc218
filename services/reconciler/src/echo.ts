import type { Controller, MutationGroup } from '@sluice/controllers';
import type { ServiceView } from './service-view.ts';

/**
 * The watch may show our own write before its Outcome is here. If the plan in flight writes this object, what was seen
 * is noted and judged when the Outcome is in. True if it was noted.
 */
export function noteEcho(view: ServiceView, controller: Controller, name: string, resourceVersion: string): boolean {
  const state = view.controller(controller);
  if (state.inFlight === null || !writes(state.inFlight.message.groups, name)) return false;
  const echoes = { ...state.inFlight.echoes, [name]: resourceVersion };
  view.setController(controller, { ...state, inFlight: { ...state.inFlight, echoes } });
  return true;
}

function writes(groups: readonly MutationGroup[], name: string): boolean {
  return groups.some(({ mutations }) => mutations.some((m) => m.verb !== 'delete' && m.object.metadata.name === name));
}

/** The plan in flight deletes this object, so its absence is no news. */
export function deletes(view: ServiceView, controller: Controller, uid: string): boolean {
  const groups = view.controller(controller).inFlight?.message.groups ?? [];
  return groups.some(({ mutations }) => mutations.some((m) => m.verb === 'delete' && m.uid === uid));
}
