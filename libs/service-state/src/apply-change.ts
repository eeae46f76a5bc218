import { compareResourceVersions, type Endpoints, leaderAnnotation } from '@sluice/controllers';
import { type Change, compareStamps, type PublishedResourceVersions, type Stamp } from '@sluice/messages';
import { applyFact } from './apply-fact.ts';
import { observerOf } from './own-slices.ts';
import { clearTracked, removeService } from './remove-service.ts';
import type { ServiceState } from './service-state.ts';
import type { Settings } from './settings.ts';
import { WorkSet } from './work-set.ts';

/** Folds what a watcher saw into the view, and notes which controllers have to look again. */
export function applyChange(view: ServiceState, change: Change, now: number, settings: Settings): void {
  const { stamp, snapshot } = change;
  if (compareStamps(stamp, view.snapshot.stamp) <= 0) return;
  const { policy } = settings;
  const touched = new WorkSet(now);
  const { complete, open, resourceVersions } = view.snapshot;
  view.set('snapshot', {
    open: snapshot?.first
      ? { since: stamp, start: snapshot.initial, resourceVersions: snapshot.resourceVersions }
      : open,
    complete,
    stamp,
    resourceVersions: change.resourceVersions ?? resourceVersions,
  });
  for (const fact of change.facts) {
    touched.only = policy.affected(view, fact, snapshot?.initial === false);
    applyFact(view, fact, stamp, touched, settings);
  }
  if (change.resourceVersions !== undefined) forgetUnseen(view, change.resourceVersions, touched);
  if (snapshot?.last) endSnapshot(view, touched, settings);
  for (const controller of settings.controllers) {
    const state = view.controller(controller);
    const next = touched.apply(controller, state, change.causes, settings);
    if (next !== state) view.setController(controller, next);
  }
}

/**
 * An object that only an Outcome told of, and the watcher never though it has come further, was deleted or relabelled
 * before the watcher saw it: while its watch was cut, say.
 */
function forgetUnseen(view: ServiceState, versions: PublishedResourceVersions, touched: WorkSet): void {
  for (const [name, { slice, stamp }] of [...view.slices]) {
    if (stamp !== null || !upTo(slice.metadata.resourceVersion, versions.endpointslices)) continue;
    view.setSlice(name, undefined);
    touched.repair(observerOf(slice));
  }
  const { endpoints } = view;
  if (endpoints === null || endpoints.stamp !== null) return;
  if (!upTo(endpoints.endpoints.metadata.resourceVersion, versions.endpoints)) return;
  view.set('endpoints', undefined);
  touched.repair('endpoints');
  touched.add('endpointslicemirroring');
}

/** What the snapshot did not assert is gone, unless it was written after the list that the snapshot speaks of. */
function endSnapshot(view: ServiceState, touched: WorkSet, settings: Settings): void {
  const { open } = view.snapshot;
  if (open === null) return;
  const before = (stamp: Stamp | null) => stamp === null || compareStamps(stamp, open.since) < 0;
  if (view.service !== null && before(view.service.stamp)) removeService(view, open.since, touched);
  for (const [name, entry] of [...view.pods]) {
    if (before(entry.stamp)) view.removePod(name);
  }
  for (const [name, { slice, stamp }] of [...view.slices]) {
    if (before(stamp) && upTo(slice.metadata.resourceVersion, open.resourceVersions.endpointslices)) {
      view.setSlice(name, undefined);
    }
  }
  const entry = view.endpoints;
  if (entry && before(entry.stamp) && upTo(entry.endpoints.metadata.resourceVersion, open.resourceVersions.endpoints)) {
    view.set('endpoints', undefined);
  }
  if (open.start && !view.service?.service && isLeftover(view.endpoints?.endpoints)) view.set('orphaned', true);
  if (open.start) clearTracked(view);
  view.set('snapshot', { ...view.snapshot, open: null, complete: true });
  touched.only = null;
  const { policy, batchPeriodMs } = settings;
  for (const [controller, delayMs] of policy.affectedBySnapshot(view, open.start, batchPeriodMs)) {
    touched.add(controller, delayMs);
  }
}

/** Swept at a watcher's start if no Service has its name; leader election once used such objects (D4). */
function isLeftover(endpoints: Endpoints | undefined): boolean {
  return endpoints !== undefined && endpoints.metadata.annotations?.[leaderAnnotation] === undefined;
}

const upTo = (version: string | undefined, limit: string): boolean =>
  compareResourceVersions(version ?? '', limit) <= 0;
