import { controllers, endpointSliceTracker, isMirrorable } from '@sluice/controllers';
import type { Fact } from '@sluice/messages';
import type { Controller } from '@sluice/model';
import { managerOf, type ServiceState } from '@sluice/service-state';
import { noticedBy } from '@sluice/shadow';

const none: ReadonlySet<Controller> = new Set();

/**
 * The controllers whose handlers would queue the Service for a fact that is not yet applied. `resent`: the fact may be old,
 * because it was published for its Service.
 */
export function affected(view: ServiceState, fact: Fact, resent: boolean): ReadonlySet<Controller> {
  if (fact.kind === 'slice') return noticedSlice(view, fact);
  return fact.kind === 'pod' && resent ? none : noticedBy(view, fact);
}

/**
 * Controllers whose handlers react to the end of a snapshot: at a start to all objects, at a resync to unchanged ones
 * (A7).
 */
export function* noticedAtEnd(
  view: ServiceState,
  start: boolean,
  batchPeriodMs: BatchPeriods,
): Generator<readonly [Controller, number]> {
  for (const controller of ofNewSlices(view))
    yield [controller, sliceDelayMs(controller, batchPeriodMs[controller] ?? 0)];
  for (const controller of start ? controllers : shownByResync(view)) yield [controller, 0];
}

type BatchPeriods = Readonly<Record<Controller, number>>;

function shownByResync(view: ServiceState): ReadonlySet<Controller> {
  const noticed = new Set<Controller>();
  if (view.service?.service) noticed.add('endpoints').add('endpointslice');
  if (view.endpoints !== null && isMirrorable(view.endpoints.endpoints)) noticed.add('endpointslicemirroring');
  return noticed;
}

/** A resync also enqueues them for untracked slices (E5, H4). */
function ofNewSlices(view: ServiceState): ReadonlySet<Controller> {
  const noticed = new Set<Controller>();
  for (const { slice } of view.slices.values()) {
    const controller = managerOf(slice);
    if (controller && endpointSliceTracker.shouldSync(view.controller(controller).trackers.tracked, slice)) {
      noticed.add(controller);
    }
  }
  return noticed;
}

/** Slices of the EndpointSlice controller enqueue their Service after at least a second, Endpoints immediately (E4). */
export function sliceDelayMs(controller: Controller, batchPeriodMs: number): number {
  if (controller === 'endpoints') return 0;
  return controller === 'endpointslice' ? Math.max(1000, batchPeriodMs) : batchPeriodMs;
}

/** Slices of other writers enqueue their Service; own writes do not (E4–E6, H4). */
function noticedSlice(view: ServiceState, fact: Extract<Fact, { kind: 'slice' }>): ReadonlySet<Controller> {
  const noticed = new Set<Controller>();
  const old = view.slices.get(fact.name)?.slice;
  const before = old && managerOf(old);
  if (fact.slice === null) {
    if (before === undefined || old === undefined) return none;
    const { tracked } = view.controller(before).trackers;
    const expected = endpointSliceTracker.handleDeletion(tracked, old).expected;
    if (fact.relabelled || (endpointSliceTracker.has(tracked, old) && !expected)) noticed.add(before);
    return noticed;
  }
  const now = managerOf(fact.slice);
  if (before !== undefined && before !== now) noticed.add(before);
  if (now === undefined) return noticed;
  if (old !== undefined && before !== now) noticed.add(now);
  if (endpointSliceTracker.shouldSync(view.controller(now).trackers.tracked, fact.slice)) noticed.add(now);
  return noticed;
}
