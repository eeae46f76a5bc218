import { isDeepStrictEqual } from 'node:util';
import { controllers, endpointSliceTracker, isMirrorable, isOverloaded } from '@sluice/controllers';
import type { Fact } from '@sluice/messages';
import type { Controller, Pod } from '@sluice/model';
import { managerOf, type PodEntry, type ServiceState } from '@sluice/service-state';
import { podChange } from './pod-change.ts';

const all: ReadonlySet<Controller> = new Set(controllers);
const none: ReadonlySet<Controller> = new Set();
const ofPods: ReadonlySet<Controller> = new Set<Controller>(['endpoints', 'endpointslice']);
const ofNodes: ReadonlySet<Controller> = new Set<Controller>(['endpointslice']);

/**
 * The controllers whose handlers would queue the Service for a fact that is not yet applied. `resent`: the fact may be old,
 * because it was published for its Service.
 */
export function noticedBy(view: ServiceState, fact: Fact, resent: boolean): ReadonlySet<Controller> {
  switch (fact.kind) {
    case 'service':
      return noticedService(view.service?.service ?? null, fact.service);
    case 'pod':
      return !resent && noticedPod(view.pods.get(fact.name), fact) ? ofPods : none;
    case 'topology':
      return isOverloaded(view.controller('endpointslice').hints, fact.topology) ? ofNodes : none;
    case 'endpoints':
      return noticedEndpoints(view, fact);
    case 'slice':
      return noticedSlice(view, fact);
  }
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
  for (const controller of start ? all : shownByResync(view)) yield [controller, 0];
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
    if (controller && endpointSliceTracker.shouldSync(view.controller(controller).tracked, slice)) {
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

type SelectorOf = { readonly selector: unknown } | null;

/** A Service always enqueues (D1, E1); for mirroring only without a selector, or if its selector was added or removed (H3). */
function noticedService(old: SelectorOf, now: SelectorOf): ReadonlySet<Controller> {
  if (old === null && now === null) return none;
  const without = (service: SelectorOf) => service !== null && service.selector === null;
  const mirroring = old !== null && now !== null ? without(old) !== without(now) : without(old) || without(now);
  return mirroring ? all : ofPods;
}

/**
 * A Service that keeps the Pod is enqueued only for relevant changes (C12–C14), and never for changes of its Node (E3).
 */
function noticedPod(known: PodEntry | undefined, { pod: now, node }: Extract<Fact, { kind: 'pod' }>): boolean {
  const old = known?.pod ?? null;
  if (old === null || now === null) return old !== now;
  if (!isDeepStrictEqual(known?.node, node) && isDeepStrictEqual(old, now)) return false;
  const labelled = (pod: Pod) => ({ pod, resourceVersion: '', labels: null });
  return podChange(labelled(old), labelled(now)).podChanged;
}

/** Endpoints enqueue their own controller only if deleted (D3), mirroring if they are mirrorable (H1). */
function noticedEndpoints(view: ServiceState, fact: Extract<Fact, { kind: 'endpoints' }>): ReadonlySet<Controller> {
  const noticed = new Set<Controller>();
  const old = view.endpoints?.endpoints;
  if (fact.endpoints === null && old !== undefined) noticed.add('endpoints');
  if ([old, fact.endpoints].some((endpoints) => endpoints && isMirrorable(endpoints))) {
    noticed.add('endpointslicemirroring');
  }
  return noticed;
}

/** Slices of other writers enqueue their Service; own writes do not (E4–E6, H4). */
function noticedSlice(view: ServiceState, fact: Extract<Fact, { kind: 'slice' }>): ReadonlySet<Controller> {
  const noticed = new Set<Controller>();
  const old = view.slices.get(fact.name)?.slice;
  const before = old && managerOf(old);
  if (fact.slice === null) {
    if (before === undefined || old === undefined) return none;
    const { tracked } = view.controller(before);
    const expected = endpointSliceTracker.handleDeletion(tracked, old).expected;
    if (fact.relabelled || (endpointSliceTracker.has(tracked, old) && !expected)) noticed.add(before);
    return noticed;
  }
  const now = managerOf(fact.slice);
  if (before !== undefined && before !== now) noticed.add(before);
  if (now === undefined) return noticed;
  if (old !== undefined && before !== now) noticed.add(now);
  if (endpointSliceTracker.shouldSync(view.controller(now).tracked, fact.slice)) noticed.add(now);
  return noticed;
}
