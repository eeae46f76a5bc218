import { compareResourceVersions } from '@sluice/controllers';
import { compareStamps, type Fact, type Stamp } from '@sluice/messages';
import { observerOf } from './own-slices.ts';
import { removeService, removeTracked } from './remove-service.ts';
import type { ServiceState } from './service-state.ts';
import type { Settings } from './settings.ts';
import { deletes, recordWatchEcho } from './watch-echo.ts';
import type { WorkSet } from './work-set.ts';

/** Folds what is so of one object; one that is older than what is known changes nothing. */
export function applyFact(view: ServiceState, fact: Fact, stamp: Stamp, touched: WorkSet, settings: Settings): void {
  switch (fact.kind) {
    case 'service': {
      if (view.service !== null && compareStamps(stamp, view.service.stamp) < 0) return;
      if (fact.service === null) return removeService(view, stamp, touched);
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
      return applyEndpoints(view, fact, stamp, touched);
    case 'slice':
      return applySlice(view, fact, stamp, touched);
  }
}

function applyEndpoints(
  view: ServiceState,
  fact: Extract<Fact, { kind: 'endpoints' }>,
  stamp: Stamp,
  touched: WorkSet,
): void {
  const known = view.endpoints?.endpoints.metadata;
  if (fact.endpoints === null) {
    view.rememberDeleted(fact.uid);
    if (view.endpoints !== null && isGone(view.endpoints, known?.uid, fact.uid, stamp))
      view.set('endpoints', undefined);
    if (!deletes(view, 'endpoints', fact.uid)) touched.repair('endpoints');
    return touched.add('endpointslicemirroring');
  }
  const { uid = '', resourceVersion = '', name } = fact.endpoints.metadata;
  if (view.deletedUids.includes(uid)) return;
  const order = known === undefined ? 1 : compareResourceVersions(resourceVersion, known.resourceVersion ?? '');
  if (order < 0) return;
  view.set('endpoints', {
    endpoints: order === 0 && view.endpoints ? view.endpoints.endpoints : fact.endpoints,
    stamp,
  });
  if (order === 0) return;
  if (!recordWatchEcho(view, 'endpoints', name, resourceVersion)) touched.repair('endpoints');
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

function applySlice(view: ServiceState, fact: Extract<Fact, { kind: 'slice' }>, stamp: Stamp, touched: WorkSet): void {
  const known = view.slices.get(fact.name)?.slice;
  if (fact.slice === null) {
    if (!fact.relabelled) {
      view.rememberDeleted(fact.uid);
      removeTracked(view, fact.uid);
    }
    const entry = view.slices.get(fact.name);
    if (entry === undefined || known === undefined || !isGone(entry, known.metadata.uid, fact.uid, stamp)) return;
    view.setSlice(fact.name, undefined);
    const controller = observerOf(known);
    if (!deletes(view, controller, fact.uid)) touched.repair(controller);
    return;
  }
  const { uid = '', resourceVersion = '' } = fact.slice.metadata;
  if (view.deletedUids.includes(uid)) return;
  const order =
    known === undefined ? 1 : compareResourceVersions(resourceVersion, known.metadata.resourceVersion ?? '');
  if (order < 0) return;
  view.setSlice(fact.name, { slice: order === 0 && known ? known : fact.slice, stamp });
  if (order === 0) return;
  for (const controller of new Set([fact.slice, ...(known ? [known] : [])].map(observerOf))) {
    if (recordWatchEcho(view, controller, fact.name, resourceVersion)) continue;
    touched.repair(controller);
  }
}
