import {
  type Controller,
  compareResourceVersions,
  controllers,
  type EndpointSlice,
  type Endpoints,
  endpointSliceMirroringController,
  endpointSliceTracker,
  leaderAnnotation,
  type MutationGroup,
  managedByLabel,
} from '@sluice/controllers';
import {
  type Causes,
  type Change,
  compareStamps,
  type Fact,
  noCauses,
  type Stamp,
  type ToldVersions,
} from '@sluice/messages';
import { type ControllerState, touch } from './controller-state.ts';
import type { ServiceView } from './service-view.ts';
import type { Settings } from './settings.ts';

/** Folds what a watcher saw into the view, and notes which controllers have to look again. */
export function foldChange(view: ServiceView, change: Change, now: number, settings: Settings): void {
  const { stamp, snapshot } = change;
  if (compareStamps(stamp, view.snapshot.stamp) <= 0) return;
  const { policy } = settings;
  const touched = new Touched(now);
  const { complete, open, versions } = view.snapshot;
  view.set('snapshot', {
    open: snapshot?.first ? { since: stamp, start: snapshot.start, versions: snapshot.versions } : open,
    complete,
    stamp,
    versions: change.versions ?? versions,
  });
  for (const fact of change.facts) {
    touched.only = policy.noticing(view, fact, snapshot?.start === false);
    foldFact(view, fact, stamp, touched, settings);
  }
  if (change.versions !== undefined) forgetUnseen(view, change.versions, touched);
  if (snapshot?.last) endSnapshot(view, touched, settings);
  for (const controller of settings.controllers) {
    const state = view.controller(controller);
    const next = touched.apply(controller, state, change.causes, settings);
    if (next !== state) view.setController(controller, next);
  }
}

/** Which controllers have to decide again, and when. */
class Touched {
  readonly due = new Map<Controller, number>();
  /** The same of those that are not wanted at once. */
  readonly later = new Map<Controller, number>();
  /** Because of what was done to the objects that the controller writes. */
  readonly repairs = new Set<Controller>();
  /** Others are not touched; null: all may be. */
  only: ReadonlySet<Controller> | null = null;
  readonly now: number;

  constructor(now: number) {
    this.now = now;
  }

  add(controller: Controller, delayMs = 0): void {
    if (this.only?.has(controller) === false) return;
    earliest(this.due, controller, this.now + delayMs);
    if (delayMs > 0) earliest(this.later, controller, this.now + delayMs);
  }

  repair(controller: Controller): void {
    if (this.only?.has(controller) !== false) this.repairs.add(controller);
  }

  all(): void {
    for (const controller of controllers) this.add(controller);
  }

  /** The state of a controller after all that; the same if there was nothing. */
  apply(
    controller: Controller,
    state: ControllerState,
    causes: Causes,
    { policy, batchPeriodMs }: Settings,
  ): ControllerState {
    let next = state;
    // However many times are asked for, the causes count once.
    const unsaid = () => (next === state ? causes : noCauses);
    for (const at of [this.due.get(controller), this.later.get(controller)]) {
      if (at !== undefined) next = touch(next, at, unsaid(), this.now);
    }
    if (!this.repairs.has(controller)) return next;
    return policy.repair({ controller, state: next, now: this.now }, batchPeriodMs[controller], unsaid());
  }
}

function earliest(times: Map<Controller, number>, controller: Controller, at: number): void {
  times.set(controller, Math.min(times.get(controller) ?? Number.POSITIVE_INFINITY, at));
}

function foldFact(view: ServiceView, fact: Fact, stamp: Stamp, touched: Touched, settings: Settings): void {
  switch (fact.of) {
    case 'service': {
      if (view.service !== null && compareStamps(stamp, view.service.stamp) < 0) return;
      if (fact.service === null) return forgetService(view, stamp, touched);
      if (view.orphaned) view.set('orphaned', undefined);
      view.set('service', { service: fact.service, stamp });
      return touched.all();
    }
    case 'pod': {
      const known = view.podStamp(fact.name);
      if (known !== undefined && compareStamps(stamp, known) < 0) return;
      if (fact.pod === null) view.setPodGone(fact.name, stamp);
      else view.setPod(fact.name, { pod: fact.pod, node: fact.node, stamp });
      touched.add('endpoints', settings.batchPeriodMs.endpoints);
      touched.add('endpointslice', settings.batchPeriodMs.endpointslice);
      return;
    }
    case 'topology':
      view.set('topology', fact.topology ?? undefined);
      return touched.add('endpointslice');
    case 'endpoints':
      return foldEndpoints(view, fact, stamp, touched);
    case 'slice':
      return foldSlice(view, fact, stamp, touched);
  }
}

/** Its Pods are forgotten with it: if it comes back, a snapshot tells them again. */
function forgetService(view: ServiceView, stamp: Stamp, touched: Touched): void {
  if (view.service?.service) view.set('orphaned', true);
  view.set('service', { service: null, stamp });
  view.set('topology', undefined);
  for (const name of [...view.pods.keys()]) view.removePod(name);
  forgetAllTracked(view);
  touched.all();
}

const trackingControllers: readonly Controller[] = ['endpointslice', 'endpointslicemirroring'];

function forgetTracked(view: ServiceView, uid: string): void {
  for (const controller of trackingControllers) {
    const state = view.controller(controller);
    const { state: tracked } = endpointSliceTracker.handleDeletion(state.tracked, { metadata: { uid } });
    if (tracked !== state.tracked) view.setController(controller, { ...state, tracked });
  }
}

function forgetAllTracked(view: ServiceView): void {
  for (const controller of trackingControllers) {
    const state = view.controller(controller);
    if (!endpointSliceTracker.isEmpty(state.tracked))
      view.setController(controller, { ...state, tracked: endpointSliceTracker.deleteService() });
  }
}

function foldEndpoints(
  view: ServiceView,
  fact: Extract<Fact, { of: 'endpoints' }>,
  stamp: Stamp,
  touched: Touched,
): void {
  const known = view.endpoints?.endpoints.metadata;
  if (fact.endpoints === null) {
    view.remember(fact.uid);
    if (view.endpoints !== null && isGone(view.endpoints, known?.uid, fact.uid, stamp))
      view.set('endpoints', undefined);
    if (!deletes(view, 'endpoints', fact.uid)) touched.repair('endpoints');
    return touched.add('endpointslicemirroring');
  }
  const { uid = '', resourceVersion = '', name } = fact.endpoints.metadata;
  if (view.gone.includes(uid)) return;
  const order = known === undefined ? 1 : compareResourceVersions(resourceVersion, known.resourceVersion ?? '');
  if (order < 0) return;
  view.set('endpoints', {
    endpoints: order === 0 && view.endpoints ? view.endpoints.endpoints : fact.endpoints,
    stamp,
  });
  if (order === 0) return;
  if (!noteEcho(view, 'endpoints', name, resourceVersion)) touched.repair('endpoints');
  touched.add('endpointslicemirroring');
}

/**
 * Whether what is known under a name is gone, now that an object of this name is. Of one with another uid only a watcher
 * may say so that told of it before: it may have missed that one's end, or the Outcome of its creation came first.
 */
function isGone(
  { stamp: told }: { readonly stamp: Stamp | null },
  uid: string | undefined,
  goneUid: string,
  stamp: Stamp,
): boolean {
  return uid === goneUid || (told !== null && compareStamps(told, stamp) < 0);
}

function foldSlice(view: ServiceView, fact: Extract<Fact, { of: 'slice' }>, stamp: Stamp, touched: Touched): void {
  const known = view.slices.get(fact.name)?.slice;
  if (fact.slice === null) {
    if (!fact.elsewhere) {
      view.remember(fact.uid);
      forgetTracked(view, fact.uid);
    }
    const entry = view.slices.get(fact.name);
    if (entry === undefined || known === undefined || !isGone(entry, known.metadata.uid, fact.uid, stamp)) return;
    view.setSlice(fact.name, undefined);
    const controller = controllerOfSlice(known);
    if (!deletes(view, controller, fact.uid)) touched.repair(controller);
    return;
  }
  const { uid = '', resourceVersion = '' } = fact.slice.metadata;
  if (view.gone.includes(uid)) return;
  const order =
    known === undefined ? 1 : compareResourceVersions(resourceVersion, known.metadata.resourceVersion ?? '');
  if (order < 0) return;
  view.setSlice(fact.name, { slice: order === 0 && known ? known : fact.slice, stamp });
  if (order === 0) return;
  for (const controller of new Set([fact.slice, ...(known ? [known] : [])].map(controllerOfSlice))) {
    if (noteEcho(view, controller, fact.name, resourceVersion)) continue;
    touched.repair(controller);
  }
}

function controllerOfSlice(slice: EndpointSlice): Controller {
  const manager = slice.metadata.labels?.[managedByLabel];
  return manager === endpointSliceMirroringController ? 'endpointslicemirroring' : 'endpointslice';
}

/**
 * The watch may show our own write before its Outcome is here. If the plan in flight writes this object, what was seen
 * is noted and judged when the Outcome is in. True if it was noted.
 */
function noteEcho(view: ServiceView, controller: Controller, name: string, resourceVersion: string): boolean {
  const state: ControllerState = view.controller(controller);
  if (state.inFlight === null || !writes(state.inFlight.message.groups, name)) return false;
  const echoes = { ...state.inFlight.echoes, [name]: resourceVersion };
  view.setController(controller, { ...state, inFlight: { ...state.inFlight, echoes } });
  return true;
}

function writes(groups: readonly MutationGroup[], name: string): boolean {
  return groups.some(({ mutations }) => mutations.some((m) => m.verb !== 'delete' && m.object.metadata.name === name));
}

/** The plan in flight deletes this object, so its absence is no news. */
function deletes(view: ServiceView, controller: Controller, uid: string): boolean {
  const groups = view.controller(controller).inFlight?.message.groups ?? [];
  return groups.some(({ mutations }) => mutations.some((m) => m.verb === 'delete' && m.uid === uid));
}

/**
 * An object that only an Outcome told of, and the watcher never though it has come further, was deleted or relabelled
 * before the watcher saw it: while its watch was cut, say.
 */
function forgetUnseen(view: ServiceView, versions: ToldVersions, touched: Touched): void {
  for (const [name, { slice, stamp }] of [...view.slices]) {
    if (stamp !== null || !upTo(slice.metadata.resourceVersion, versions.endpointslices)) continue;
    view.setSlice(name, undefined);
    const controller = controllerOfSlice(slice);
    touched.repair(controller);
  }
  const { endpoints } = view;
  if (endpoints === null || endpoints.stamp !== null) return;
  if (!upTo(endpoints.endpoints.metadata.resourceVersion, versions.endpoints)) return;
  view.set('endpoints', undefined);
  touched.repair('endpoints');
  touched.add('endpointslicemirroring');
}

/** What the snapshot did not assert is gone, unless it was written after the list that the snapshot speaks of. */
function endSnapshot(view: ServiceView, touched: Touched, settings: Settings): void {
  const { open } = view.snapshot;
  if (open === null) return;
  const before = (stamp: Stamp | null) => stamp === null || compareStamps(stamp, open.since) < 0;
  if (view.service !== null && before(view.service.stamp)) forgetService(view, open.since, touched);
  for (const [name, entry] of [...view.pods]) {
    if (before(entry.stamp)) view.removePod(name);
  }
  for (const [name, { slice, stamp }] of [...view.slices]) {
    if (before(stamp) && upTo(slice.metadata.resourceVersion, open.versions.endpointslices)) {
      view.setSlice(name, undefined);
    }
  }
  const entry = view.endpoints;
  if (entry && before(entry.stamp) && upTo(entry.endpoints.metadata.resourceVersion, open.versions.endpoints)) {
    view.set('endpoints', undefined);
  }
  if (open.start && !view.service?.service && isLeftover(view.endpoints?.endpoints)) view.set('orphaned', true);
  if (open.start) forgetAllTracked(view);
  view.set('snapshot', { ...view.snapshot, open: null, complete: true });
  touched.only = null;
  const { policy, batchPeriodMs } = settings;
  for (const [controller, delayMs] of policy.noticingSnapshot(view, open.start, batchPeriodMs)) {
    touched.add(controller, delayMs);
  }
}

/** Swept at a watcher's start if no Service has its name; leader election once used such objects (D4). */
function isLeftover(endpoints: Endpoints | undefined): boolean {
  return endpoints !== undefined && endpoints.metadata.annotations?.[leaderAnnotation] === undefined;
}

const upTo = (version: string | undefined, limit: string): boolean =>
  compareResourceVersions(version ?? '', limit) <= 0;
