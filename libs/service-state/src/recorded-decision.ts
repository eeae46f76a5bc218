import type { PlannedMutations } from '@sluice/messages';
import { withoutSlices } from './compact.ts';
import type { Planned } from './decide.ts';
import { reconcile } from './reconcile.ts';
import type { ServiceState } from './service-state.ts';
import type { Settings } from './settings.ts';

/** The decision that led to a plan of the log. What the plan does not say follows from the state on which it was decided. */
export function recordedDecision(state: ServiceState, plan: PlannedMutations, settings: Settings): Planned {
  const { controller, compaction } = plan;
  // A history that begins later than the state lacks objects, which would count as removed.
  const { complete } = state.snapshot;
  const before = { ...state.controller(controller).trackers, counts: null };
  const { triggers, hints, counts } = complete ? reconcile(state, controller, settings) : before;
  const tracked = { triggers, hints, counts: compaction ? withoutSlices(counts, compaction.removed) : counts };
  return { kind: 'planned', controller, plan, tracked };
}
