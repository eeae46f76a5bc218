import { compareResourceVersions, type Endpoints, leaderAnnotation } from '@sluice/controllers';
import { type Change, compareStamps, type PublishedResourceVersions, type Stamp } from '@sluice/messages';
import { foldFact } from './fold-fact.ts';
import { forgetAllTracked, forgetService } from './forget.ts';
import { observerOf } from './own-slices.ts';
import type { ServiceView } from './service-view.ts';
import type { Settings } from './settings.ts';
import { Touched } from './touched.ts';

/** Folds what a watcher saw into the view, and notes which controllers have to look again. */
export function foldChange(view: ServiceView, change: Change, now: number, settings: Settings): void {
  const { stamp, snapshot } = change;
  if (compareStamps(stamp, view.snapshot.stamp) <= 0) return;
  const { policy } = settings;
  const touched = new Touched(now);
  const { complete, open, versions } = view.snapshot;
  view.set('snapshot', {
    open: snapshot?.first ? { since: stamp, start: snapshot.start, versions: snapshot.resourceVersions } : open,
    complete,
    stamp,
    versions: change.resourceVersions ?? versions,
  });
  for (const fact of change.facts) {
    touched.only = policy.noticing(view, fact, snapshot?.start === false);
    foldFact(view, fact, stamp, touched, settings);
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
function forgetUnseen(view: ServiceView, versions: PublishedResourceVersions, touched: Touched): void {
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
