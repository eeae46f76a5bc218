import {
  type Controller,
  type EndpointSlice,
  type Endpoints,
  equalMetadata,
  type MutationGroup,
  structurallyEqual,
} from '@sluice/model';
import type { ServiceState } from './service-state.ts';

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
export type AdmissionChange = 'content' | 'metadata' | undefined;

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
