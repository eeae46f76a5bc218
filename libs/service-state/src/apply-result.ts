import type { MutationResult, Stamp } from '@sluice/messages';
import {
  type Controller,
  compareResourceVersions,
  type EndpointSlice,
  type Endpoints,
  equalMetadata,
  type Mutation,
  type MutationGroup,
  structurallyEqual,
  type WrittenResource,
} from '@sluice/model';
import type { InFlight } from './controller-state.ts';
import type { ReconcilerPolicy } from './policy.ts';
import { belongsToService } from './reconcile.ts';
import type { ServiceState } from './service-state.ts';

interface Version {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** Whether the state has the object that the result is about. */
export function knows(state: ServiceState, { resource, name }: MutationResult): boolean {
  return resource === 'endpoints' ? state.endpoints !== null : state.slices.has(name);
}

/** Applies what the cluster stores after one mutation of the plan in flight, as far as the result reports it. */
export function applyResult(
  state: ServiceState,
  inFlight: InFlight,
  result: MutationResult,
  now: number,
  policy: ReconcilerPolicy,
): void {
  const mutation = inFlight.message.groups[result.group]?.mutations[result.index];
  if (mutation === undefined) return;
  if (result.status === 'failed') {
    if (result.current) applyCurrent(state, result, result.current, now, policy);
    else if (result.current === null) applyNotFound(state, mutation, result.name, now);
    return;
  }
  // The Service's Endpoints are deleted. Endpoints created under the name from now on are a user's (rule 9).
  if (mutation.verb === 'delete' && mutation.resource === 'endpoints') state.setOrphaned(false);
  if (result.current) return applyCurrent(state, result, result.current, now, policy);
  if (mutation.verb === 'delete')
    return recordDeletion(state, mutation.resource, mutation.name, mutation.uid ?? '', now);
  if (result.stored !== undefined) applyStored(state, mutation, result.name, result.stored, now, policy);
}

/** Removes the object with this uid. A watcher that lags behind still publishes it, in digests as well. */
function recordDeletion(state: ServiceState, resource: WrittenResource, name: string, uid: string, now: number): void {
  state.addTombstone({ uid, reportedAt: now });
  if (resource === 'endpoints') {
    if (state.endpoints?.endpoints.metadata.uid === uid) state.setEndpoints(null);
  } else if (state.slices.get(name)?.slice.metadata.uid === uid) state.removeSlice(name);
}

/**
 * The plan's content takes the place of what is known, also where the watch has delivered the same version with the same
 * content: the next decision then recognizes the object and need not examine its endpoints (ADR 0044).
 */
function applyStored(
  state: ServiceState,
  mutation: Exclude<Mutation, { verb: 'delete' }>,
  name: string,
  stored: NonNullable<MutationResult['stored']>,
  now: number,
  policy: ReconcilerPolicy,
): void {
  const metadata = { ...mutation.object.metadata, ...stored, name };
  if (mutation.resource === 'endpoints') {
    const known = state.endpoints?.endpoints;
    const endpoints = { ...mutation.object, metadata };
    if (isNewer(state, mutation.resource, stored, known, now, policy) || isSameObject(endpoints, known)) {
      state.setEndpoints({ endpoints, stamp: publishedStamp(state.endpoints, known, stored) });
    }
    return;
  }
  const entry = state.slices.get(name);
  const slice = { ...mutation.object, metadata };
  if (isNewer(state, mutation.resource, stored, entry?.slice, now, policy) || isSameObject(slice, entry?.slice)) {
    state.setSlice(name, { slice, stamp: publishedStamp(entry, entry?.slice, stored) });
  }
}

/** Whether the watch has delivered what the plan wrote, as it wrote it. */
function isSameObject<T extends Endpoints | EndpointSlice>(written: T, known: T | undefined): boolean {
  return known !== undefined && isSameVersion(written.metadata, known) && admissionChange(written, known) === undefined;
}

/** Whether a mutating webhook has changed the content of this write, as the watch has delivered before its Outcome. */
export function isChangedAtAdmission(state: ServiceState, inFlight: InFlight, result: MutationResult): boolean {
  const mutation = inFlight.message.groups[result.group]?.mutations[result.index];
  if (result.stored === undefined || mutation === undefined || mutation.verb === 'delete') return false;
  const { resource, object } = mutation;
  const known = resource === 'endpoints' ? state.endpoints?.endpoints : state.slices.get(result.name)?.slice;
  return known !== undefined && isSameVersion(result.stored, known) && admissionChange(object, known) === 'content';
}

function isSameVersion({ resourceVersion = '' }: Version, known: { readonly metadata: Version }): boolean {
  return compareResourceVersions(resourceVersion, known.metadata.resourceVersion ?? '') === 0;
}

/** The stamp under which a watcher published this object; null if none has yet. */
function publishedStamp(
  entry: { readonly stamp: Stamp | null } | null | undefined,
  known: { readonly metadata: Version } | undefined,
  { uid }: Version,
): Stamp | null {
  return entry && known?.metadata.uid === uid ? entry.stamp : null;
}

/**
 * The writer found no object, so the one that the plan wrote or deleted is gone. If a watcher has published another object
 * of this name meanwhile, it will also report that one's deletion.
 */
function applyNotFound(state: ServiceState, mutation: Mutation, name: string, now: number): void {
  // Reachable: written object no longer exists
  const uid = mutation.verb === 'delete' ? mutation.uid : mutation.object.metadata.uid;
  recordDeletion(state, mutation.resource, name, uid ?? '', now);
}

function applyCurrent(
  state: ServiceState,
  result: MutationResult,
  current: Endpoints | EndpointSlice,
  now: number,
  policy: ReconcilerPolicy,
): void {
  const { resource, name } = result;
  if (resource === 'endpoints') {
    const known = state.endpoints?.endpoints;
    if (isNewer(state, resource, current.metadata, known, now, policy)) {
      const stamp = publishedStamp(state.endpoints, known, current.metadata);
      state.setEndpoints({ endpoints: current as Endpoints, stamp });
    }
    return;
  }
  const entry = state.slices.get(name);
  const slice = current as EndpointSlice;
  // A slice of another Service stays known until the watcher reports it as relabelled: a watcher that lags behind still
  // publishes an older version of it, in digests as well.
  if (!belongsToService(state, slice) && (entry === undefined || isPublished(state, slice))) state.removeSlice(name);
  else if (isNewer(state, resource, slice.metadata, entry?.slice, now, policy)) {
    state.setSlice(name, { slice, stamp: publishedStamp(entry, entry?.slice, slice.metadata) });
  }
}

/** Whether the watcher has published a version of the slices that is as new. */
function isPublished({ snapshot }: ServiceState, { metadata }: EndpointSlice): boolean {
  return compareResourceVersions(metadata.resourceVersion ?? '', snapshot.resourceVersions.endpointslices) <= 0;
}

/**
 * Whether an object is newer than the known one. An unknown object that is older than what the watcher has published was
 * deleted or relabelled while the Outcome was on its way.
 */
function isNewer(
  state: ServiceState,
  resource: WrittenResource,
  { uid = '', resourceVersion = '' }: Version,
  known: { readonly metadata: Version } | undefined,
  now: number,
  policy: ReconcilerPolicy,
): boolean {
  if (policy.isDeleted(state.tombstones, uid, now)) return false;
  const reached = known === undefined ? state.snapshot.resourceVersions[resource] : known.metadata.resourceVersion;
  return policy.order(resourceVersion, reached ?? '') > 0;
}

/**
 * The watch may deliver a plan's own write before its Outcome arrives. If the plan in flight writes this object, the
 * version is recorded, to be compared with the Outcome's. Returns true if it was.
 */
export function recordWatchEcho(
  state: ServiceState,
  controller: Controller,
  name: string,
  resourceVersion: string,
): boolean {
  const before = state.controller(controller);
  const { inFlight } = before;
  if (inFlight === null || !writes(inFlight.message.groups, name)) return false;
  const watchEchoes = { ...inFlight.watchEchoes, [name]: resourceVersion };
  state.setController(controller, { ...before, inFlight: { ...inFlight, watchEchoes } });
  return true;
}

function writes(groups: readonly MutationGroup[], name: string): boolean {
  return groups.some(({ mutations }) => mutations.some((m) => m.verb !== 'delete' && m.object.metadata.name === name));
}

/** Whether the plan in flight deletes the object with this uid, so that its deletion is expected. */
export function isDeletedByPlan(state: ServiceState, controller: Controller, uid: string): boolean {
  const groups = state.controller(controller).inFlight?.message.groups ?? [];
  return groups.some(({ mutations }) => mutations.some((m) => m.verb === 'delete' && m.uid === uid));
}

/** What an object differs in from what was written: what carries traffic, only labels and the like, or nothing. */
type AdmissionChange = 'content' | 'metadata' | undefined;

/**
 * What a mutating webhook has changed in a write. The response names the version that resulted, but only the watch delivers
 * its content: `delivered` and `written` have the same version.
 */
export function admissionChange<T extends Endpoints | EndpointSlice>(written: T, delivered: T): AdmissionChange {
  const { metadata, ...content } = written;
  const { metadata: metadataDelivered, ...contentDelivered } = delivered;
  if (!structurallyEqual(content, contentDelivered)) return 'content';
  return equalMetadata(metadata, metadataDelivered) ? undefined : 'metadata';
}
