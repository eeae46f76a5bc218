import { endpointsWriter, isLeftover } from '@sluice/controllers';
import { type Change, compareStamps, type PublishedResourceVersions, type Stamp } from '@sluice/messages';
import { compareResourceVersions } from '@sluice/model';
import { applyFact, clearTracked, handleMissing, removeService } from './apply-fact.ts';
import { WorkSet } from './due.ts';
import { observerOf } from './reconcile.ts';
import { park } from './retries.ts';
import type { ServiceState } from './service-state.ts';
import type { Settings } from './settings.ts';

/**
 * Applies a watcher's Change and requests the decisions that follow from it. First deliveries arrive in order, so a Change
 * that is not newer than the last one is a duplicate; every fact of a Change that is applied is therefore newer than all
 * facts before it.
 */
export function applyChange(state: ServiceState, change: Change, now: number, settings: Settings): void {
  const { stamp, snapshot } = change;
  if (compareStamps(stamp, state.snapshot.stamp) <= 0) return;
  const { policy } = settings;
  const work = new WorkSet(now);
  const { complete, open, resourceVersions, unwatched } = state.snapshot;
  state.setSnapshot({
    open: snapshot?.first
      ? {
          since: stamp,
          initial: snapshot.initial,
          resourceVersions: snapshot.resourceVersions,
          ...(snapshot.unwatched && { unwatched: snapshot.unwatched }),
        }
      : open,
    complete,
    ...(unwatched && { unwatched }),
    ...(change.resourceVersions === undefined && change.unpublishable === undefined && { partial: true }),
    stamp,
    resourceVersions: change.resourceVersions ?? resourceVersions,
  });
  if (change.unpublishable !== undefined) {
    for (const controller of settings.controllers)
      state.setController(controller, park(state.controller(controller), change.unpublishable, now, null));
    return;
  }
  for (const fact of change.facts) {
    work.only = policy.affected(state, fact, snapshot?.initial === false);
    applyFact(state, fact, stamp, work, settings);
  }
  if (change.resourceVersions !== undefined) removeUnpublished(state, change.resourceVersions, work);
  if (snapshot?.last) endSnapshot(state, work, settings);
  for (const controller of settings.controllers) {
    const before = state.controller(controller);
    const after = work.applyTo(controller, before, change.causes, settings);
    if (after !== before) state.setController(controller, after);
  }
}

/**
 * Removes objects that only an Outcome reported although the watcher has published newer resourceVersions: they were
 * deleted or relabelled before the watcher saw them, for example while its watch was interrupted.
 */
function removeUnpublished(state: ServiceState, versions: PublishedResourceVersions, work: WorkSet): void {
  for (const [name, { slice, stamp }] of [...state.slices]) {
    if (stamp !== null || !isUpTo(slice.metadata.resourceVersion, versions.endpointslices)) continue;
    state.removeSlice(name);
    // Reachable: slice deleted before its watcher saw it
    handleMissing(state, slice.metadata.uid ?? '');
    work.repair(observerOf(slice));
  }
  const { endpoints } = state;
  if (endpoints === null || endpoints.stamp !== null) return;
  if (!isUpTo(endpoints.endpoints.metadata.resourceVersion, versions.endpoints)) return;
  state.setEndpoints(null);
  work.repair(endpointsWriter);
  work.addReaders('endpoints');
}

/** Removes what the snapshot did not contain, unless it was written after the list that the snapshot was taken from. */
function endSnapshot(state: ServiceState, work: WorkSet, settings: Settings): void {
  const { open } = state.snapshot;
  if (open === null) return;
  const isMissing = (stamp: Stamp | null) => stamp === null || compareStamps(stamp, open.since) < 0;
  if (state.service !== null && isMissing(state.service.stamp)) removeService(state, open.since, work);
  for (const [name, { stamp }] of [...state.pods]) {
    if (isMissing(stamp)) state.removePod(name);
  }
  for (const [name, { slice, stamp }] of [...state.slices]) {
    if (isMissing(stamp) && isUpTo(slice.metadata.resourceVersion, open.resourceVersions.endpointslices)) {
      state.removeSlice(name);
      handleMissing(state, slice.metadata.uid ?? '');
    }
  }
  const entry = state.endpoints;
  if (
    entry !== null &&
    isMissing(entry.stamp) &&
    (open.unwatched?.includes('endpoints') ||
      isUpTo(entry.endpoints.metadata.resourceVersion, open.resourceVersions.endpoints))
  ) {
    state.setEndpoints(null);
  }
  if (open.initial) {
    if (isLeftover(state.endpoints?.endpoints, state.service?.service)) state.setOrphaned(true);
    if (!settings.policy.provesByGeneration) clearTracked(state);
  }
  const { unwatched: _, ...snapshot } = state.snapshot;
  const { unwatched } = open;
  state.setSnapshot({ ...snapshot, open: null, complete: true, ...(unwatched && { unwatched }) });
  work.only = null;
  const { policy, batchPeriodMs } = settings;
  for (const [controller, delayMs] of policy.affectedBySnapshot(state, open.initial, batchPeriodMs)) {
    work.add(controller, delayMs);
  }
}

const isUpTo = (version: string | undefined, limit: string): boolean =>
  compareResourceVersions(version ?? '', limit) <= 0;
