import {
  compareResourceVersions,
  type EndpointSlice,
  type Endpoints,
  type Mutation,
  serviceNameLabel,
  type WrittenResource,
} from '@sluice/controllers';
import type { MutationResult, Stamp } from '@sluice/messages';
import type { InFlight } from './controller-state.ts';
import type { ServiceState } from './service-state.ts';

/** Whether the view has an object under the name that the result speaks of. */
export function knows(view: ServiceState, { resource, name }: MutationResult): boolean {
  return resource === 'endpoints' ? view.endpoints !== null : view.slices.has(name);
}

/** Folds what the cluster holds after one mutation of the plan in flight, as far as the result tells. */
export function applyResult(view: ServiceState, inFlight: InFlight, result: MutationResult): void {
  const mutation = inFlight.message.groups[result.group]?.mutations[result.index];
  if (mutation === undefined) return;
  if (result.status === 'failed') {
    if (result.current) foldCurrent(view, result, result.current);
    else if (result.current === null) foldAbsent(view, mutation, result.name);
    return;
  }
  if (mutation.verb === 'delete') return foldDelete(view, mutation);
  if (result.current) return foldCurrent(view, result, result.current);
  if (result.stored === undefined) return;
  foldStored(view, mutation, result.name, result.stored);
}

function foldDelete(view: ServiceState, mutation: Extract<Mutation, { verb: 'delete' }>): void {
  const { resource, name, uid = '' } = mutation;
  view.rememberDeleted(uid);
  if (resource === 'endpoints') {
    if (view.endpoints?.endpoints.metadata.uid === uid) view.set('endpoints', undefined);
    // What a Service left behind is gone. Endpoints that come under the name from now on are a user's (rule 9).
    if (view.orphaned) view.set('orphaned', undefined);
  } else if (view.slices.get(name)?.slice.metadata.uid === uid) {
    view.setSlice(name, undefined);
  }
}

function foldStored(
  view: ServiceState,
  mutation: Exclude<Mutation, { verb: 'delete' }>,
  name: string,
  stored: NonNullable<MutationResult['stored']>,
): void {
  const metadata = { ...mutation.object.metadata, ...stored, name };
  if (mutation.resource === 'endpoints') {
    const known = view.endpoints?.endpoints;
    if (isNews(view, mutation.resource, stored, known) || isEcho(stored, known)) {
      const stamp = toldOf(view.endpoints, view.endpoints?.endpoints, stored);
      view.set('endpoints', { endpoints: { ...mutation.object, metadata }, stamp });
    }
    return;
  }
  const known = view.slices.get(name);
  if (isNews(view, mutation.resource, stored, known?.slice) || isEcho(stored, known?.slice)) {
    view.setSlice(name, { slice: { ...mutation.object, metadata }, stamp: toldOf(known, known?.slice, stored) });
  }
}

/**
 * The watch showed this very version before its Outcome came. The plan's own content takes its place, as it does where the
 * echo comes later: the next decision knows these objects, and need not look at all of them.
 */
function isEcho(
  { resourceVersion = '' }: { readonly resourceVersion?: string },
  known: { readonly metadata: { readonly resourceVersion?: string } } | undefined,
): boolean {
  return known !== undefined && compareResourceVersions(resourceVersion, known.metadata.resourceVersion ?? '') === 0;
}

/** The stamp under which a watcher told of this very object; null if none has yet. */
function toldOf(
  entry: { readonly stamp: Stamp | null } | null | undefined,
  known: { readonly metadata: { readonly uid?: string } } | undefined,
  { uid }: { readonly uid?: string },
): Stamp | null {
  return entry && known?.metadata.uid === uid ? entry.stamp : null;
}

/**
 * When the writer looked, there was nothing. That is the end of what the plan wrote to or deleted; another one of that name
 * was told of by a watcher meanwhile, which will also tell of its end.
 */
function foldAbsent(view: ServiceState, mutation: Mutation, name: string): void {
  const uid = mutation.verb === 'delete' ? mutation.uid : mutation.object.metadata.uid;
  if (mutation.resource === 'endpoints') {
    if (view.endpoints?.endpoints.metadata.uid === uid) view.set('endpoints', undefined);
  } else if (view.slices.get(name)?.slice.metadata.uid === uid) view.setSlice(name, undefined);
}

function foldCurrent(view: ServiceState, result: MutationResult, current: Endpoints | EndpointSlice): void {
  const { resource, name } = result;
  if (resource === 'endpoints') {
    const stamp = toldOf(view.endpoints, view.endpoints?.endpoints, current.metadata);
    if (isNews(view, resource, current.metadata, view.endpoints?.endpoints))
      view.set('endpoints', { endpoints: current as Endpoints, stamp });
    return;
  }
  const known = view.slices.get(name);
  if (!concerns(view, current as EndpointSlice)) view.setSlice(name, undefined);
  else if (isNews(view, resource, current.metadata, known?.slice)) {
    view.setSlice(name, { slice: current as EndpointSlice, stamp: toldOf(known, known?.slice, current.metadata) });
  }
}

/** A slice whose labels were changed by somebody may not be this Service's any more. */
function concerns(view: ServiceState, slice: EndpointSlice): boolean {
  return slice.metadata.labels?.[serviceNameLabel] === view.key.service;
}

/**
 * Whether an object is newer than what is known. One that is not known, though the watcher has told more than it since,
 * was deleted or relabelled while the Outcome was on its way.
 */
function isNews(
  view: ServiceState,
  resource: WrittenResource,
  { uid = '', resourceVersion = '' }: { readonly uid?: string; readonly resourceVersion?: string },
  known: { readonly metadata: { readonly resourceVersion?: string } } | undefined,
): boolean {
  if (view.deletedUids.includes(uid)) return false;
  const newest = known === undefined ? view.snapshot.resourceVersions[resource] : known.metadata.resourceVersion;
  return compareResourceVersions(resourceVersion, newest ?? '') > 0;
}
