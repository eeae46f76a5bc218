import { endpointSliceTracker, endpointsWriter, sliceControllers, type TrackedSlices } from '@sluice/controllers';
import { compareStamps, type Fact, type Stamp } from '@sluice/messages';
import type { Controller, WrittenResource } from '@sluice/model';
import { admissionChange, isDeletedByPlan, recordWatchEcho } from './apply-result.ts';
import { repairsAdmission } from './controller-state.ts';
import type { WorkSet } from './due.ts';
import { noticeForeignWrite, setTracked } from './foreign-write.ts';
import { differsInExplanation } from './pod-explanation.ts';
import { type ReconcilerPolicy, topologyDelayMs } from './policy.ts';
import { observerOf } from './reconcile.ts';
import type { ServiceState } from './service-state.ts';
import type { Settings } from './settings.ts';

/** Applies one fact of a Change with this stamp. Objects that Sluice writes are compared by resourceVersion. */
export function applyFact(state: ServiceState, fact: Fact, stamp: Stamp, work: WorkSet, settings: Settings): void {
  switch (fact.kind) {
    case 'service':
      if (fact.service === null) return removeService(state, stamp, work);
      state.setOrphaned(false);
      state.setService({ service: fact.service, stamp });
      return work.addAll();
    case 'pod': {
      const known = state.pods.get(fact.name);
      if (fact.pod === null) state.removePod(fact.name);
      else {
        const entry = { pod: fact.pod, node: fact.node, stamp };
        state.setPod(fact.name, entry);
        if (known !== undefined && differsInExplanation(known, entry)) return;
      }
      return work.addReaders('pods', settings.batchPeriodMs);
    }
    case 'topology':
      work.addTopology(topologyDelayMs(state, fact, stamp));
      return state.setTopology(fact.topology);
    case 'endpoints':
      return applyEndpoints(state, fact, stamp, work, settings);
    case 'slice':
      return applySlice(state, fact, stamp, work, settings);
  }
}

function applyEndpoints(
  state: ServiceState,
  fact: Extract<Fact, { kind: 'endpoints' }>,
  stamp: Stamp,
  work: WorkSet,
  { policy }: Settings,
): void {
  const known = state.endpoints?.endpoints.metadata;
  if (fact.endpoints === null) {
    recordDeletion(state, 'endpoints', fact.uid);
    if (state.endpoints !== null && isGone(state.endpoints, known?.uid, fact.uid, stamp)) state.setEndpoints(null);
    if (!isDeletedByPlan(state, endpointsWriter, fact.uid)) work.repair(endpointsWriter);
    return work.addReaders('endpoints');
  }
  const { resourceVersion = '', name } = fact.endpoints.metadata;
  if (!exists(state, 'endpoints', fact.endpoints.metadata, work.now, policy)) return;
  const order = known === undefined ? 1 : policy.order(resourceVersion, known.resourceVersion ?? '');
  if (order < 0) return;
  const changed =
    order === 0 && state.endpoints ? admissionChange(state.endpoints.endpoints, fact.endpoints) : 'content';
  const endpoints = changed === undefined && state.endpoints ? state.endpoints.endpoints : fact.endpoints;
  state.setEndpoints({ endpoints, stamp });
  if (order === 0) {
    if (changed === 'content') repairAdmission(state, endpointsWriter, work);
    return;
  }
  if (!recordWatchEcho(state, endpointsWriter, name, resourceVersion)) work.repair(endpointsWriter);
  work.addReaders('endpoints');
}

interface Version {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** A watcher has published a deletion, which happened at the published version or before. */
function recordDeletion(state: ServiceState, resource: WrittenResource, uid: string): void {
  state.addTombstone({ uid, resourceVersion: state.snapshot.resourceVersions[resource] });
}

/** Whether a published object exists: it is not known to be deleted, or was listed after that. */
function exists(
  state: ServiceState,
  resource: WrittenResource,
  { uid = '', resourceVersion = '' }: Version,
  now: number,
  policy: ReconcilerPolicy,
): boolean {
  const listedAt = state.snapshot.open?.resourceVersions[resource] ?? '';
  if (policy.isDeleted(state.tombstones, uid, now, resourceVersion, listedAt)) return false;
  state.removeTombstone(uid);
  return true;
}

/**
 * Whether the known object of a name is deleted, now that the watcher reports a deletion under this name. If the uids
 * differ, only a watcher that published the known object before can tell: it may have missed that object's deletion, or
 * the Outcome of a later creation arrived first.
 */
function isGone(
  { stamp: published }: { readonly stamp: Stamp | null },
  uid: string | undefined,
  deletedUid: string,
  stamp: Stamp,
): boolean {
  return uid === deletedUid || (published !== null && compareStamps(published, stamp) < 0);
}

function applySlice(
  state: ServiceState,
  fact: Extract<Fact, { kind: 'slice' }>,
  stamp: Stamp,
  work: WorkSet,
  settings: Settings,
): void {
  const entry = state.slices.get(fact.name);
  if (fact.slice === null) {
    if (!fact.relabelled) {
      recordDeletion(state, 'endpointslices', fact.uid);
      removeTracked(state, fact.uid);
    }
    if (entry === undefined || !isGone(entry, entry.slice.metadata.uid, fact.uid, stamp)) return;
    state.removeSlice(fact.name);
    const controller = observerOf(entry.slice);
    if (!isDeletedByPlan(state, controller, fact.uid)) work.repair(controller);
    return;
  }
  const { resourceVersion = '' } = fact.slice.metadata;
  if (!exists(state, 'endpointslices', fact.slice.metadata, work.now, settings.policy)) return;
  const known = entry?.slice;
  const order = known === undefined ? 1 : settings.policy.order(resourceVersion, known.metadata.resourceVersion ?? '');
  if (order < 0) return;
  const changed = order === 0 && known ? admissionChange(known, fact.slice) : 'content';
  state.setSlice(fact.name, { slice: changed === undefined && known ? known : fact.slice, stamp });
  if (order === 0) {
    if (changed === 'content') repairAdmission(state, observerOf(fact.slice), work);
    return;
  }
  for (const controller of new Set([fact.slice, ...(known ? [known] : [])].map(observerOf))) {
    if (recordWatchEcho(state, controller, fact.name, resourceVersion)) continue;
    noticeForeignWrite(state, controller, fact.slice, work.now, settings);
    work.repair(controller);
  }
}

/** A mutating webhook has changed what the controller wrote. */
function repairAdmission(state: ServiceState, controller: Controller, work: WorkSet): void {
  if (repairsAdmission(state.controller(controller), work.now)) work.repair(controller);
  if (controller === endpointsWriter) work.addReaders('endpoints');
}

/** Removes a deleted Service and its Pods. Should it be created again, a snapshot lists its Pods. */
export function removeService(state: ServiceState, stamp: Stamp, work: WorkSet): void {
  if (state.service?.service) state.setOrphaned(true);
  state.setService({ service: null, stamp });
  state.setTopology(null);
  for (const name of [...state.pods.keys()]) state.removePod(name);
  clearTracked(state);
  work.addAll();
}

/** The watch has reported the deletion of a slice (C19). */
export function removeTracked(state: ServiceState, uid: string): void {
  updateTracked(state, (tracked) => endpointSliceTracker.handleDeletion(tracked, { metadata: { uid } }).state);
}

/** A list lacks the slice (C19). */
export function handleMissing(state: ServiceState, uid: string): void {
  updateTracked(state, (tracked) => endpointSliceTracker.handleMissing(tracked, uid));
}

/** The Service was deleted, or a watcher has started (C19). */
export function clearTracked(state: ServiceState): void {
  updateTracked(state, (tracked) =>
    endpointSliceTracker.isEmpty(tracked) ? tracked : endpointSliceTracker.deleteService(),
  );
}

function updateTracked(state: ServiceState, update: (tracked: TrackedSlices) => TrackedSlices): void {
  for (const controller of sliceControllers)
    setTracked(state, controller, update(state.controller(controller).trackers.tracked));
}
