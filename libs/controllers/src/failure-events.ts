import type { EventToRecord, Mutation } from '@sluice/model';

/** A failed mutation with the API server's message. */
export interface FailedMutation {
  readonly mutation: Mutation;
  readonly message: string;
}

export interface Named {
  readonly namespace: string;
  readonly name: string;
  readonly uid?: string;
}

/**
 * Returns the Event for an EndpointSlice plan that failed or is incomplete, or null (E11). `incomplete` holds the
 * reasons of the plan.
 */
export function endpointSliceFailure(
  service: Named,
  failures: readonly FailedMutation[],
  incomplete: readonly string[],
): EventToRecord | null {
  const text = aggregateText([
    ...incomplete,
    ...failures.map((failure) => sliceFailureText('Service', service, failure)),
  ]);
  if (text === null) return null;
  const { namespace, name } = service;
  return {
    type: 'Warning',
    reason: 'FailedToUpdateEndpointSlices',
    message: `Error updating Endpoint Slices for Service ${namespace}/${name}: ${text}`,
    regarding: { kind: 'Service', namespace, name, ...uidOf(service) },
  };
}

/**
 * Returns the Event for a failed write of Endpoints, or null for a delete, which upstream retries silently (D24). For a
 * create, the Event's object has no namespace, so it appears in namespace `default` (J1).
 */
export function endpointsFailure(service: Named, { mutation, message }: FailedMutation): EventToRecord | null {
  const { namespace, name } = service;
  if (mutation.verb === 'delete') return null;
  if (mutation.verb === 'create') {
    return {
      type: 'Warning',
      reason: 'FailedToCreateEndpoint',
      message: `Failed to create endpoint for service ${namespace}/${name}: ${message}`,
      regarding: { kind: 'Endpoints', namespace: '', name },
    };
  }
  return {
    type: 'Warning',
    reason: 'FailedToUpdateEndpoint',
    message: `Failed to update endpoint ${namespace}/${name}: ${message}`,
    regarding: { kind: 'Endpoints', namespace, name, ...uidOf(mutation.object.metadata) },
  };
}

/** The error of a mirroring plan (H20). Upstream retries it without an Event. */
export function mirroringFailureText(endpoints: Named, failure: FailedMutation): string {
  return sliceFailureText('Endpoints', endpoints, failure);
}

/** The error of a clean-up of mirrored slices, of which `total` were to be deleted (H7). */
export function cleanUpFailureText(endpoints: Named, messages: readonly string[], total: number): string {
  const { namespace, name } = endpoints;
  const [first = ''] = messages;
  return `error(s) deleting ${messages.length}/${total} EndpointSlices for ${namespace}/${name} Endpoints, including: ${first}`;
}

/** The error of one failed mutation of a slice, in the words of upstream (E28, H20). */
function sliceFailureText(kind: 'Service' | 'Endpoints', { namespace, name }: Named, failure: FailedMutation): string {
  const { mutation, message } = failure;
  const owner = `EndpointSlice for ${kind} ${namespace}/${name}`;
  switch (mutation.verb) {
    case 'create':
      return `failed to create ${owner}: ${message}`;
    case 'update':
      return `failed to update ${mutation.object.metadata.name} ${owner}: ${message}`;
    case 'delete':
      return `${mutation.unsupportedAddressType === true ? 'error deleting' : 'failed to delete'} ${mutation.name} ${owner}: ${message}`;
  }
}

function uidOf({ uid }: { readonly uid?: string }): { readonly uid?: string } {
  return uid === undefined || uid === '' ? {} : { uid };
}

/** Formats errors as Go's aggregate: one as is, several distinct ones as `[a, b]`, none as null (E13). */
export function aggregateText(texts: readonly string[]): string | null {
  const distinct = [...new Set(texts)];
  if (distinct.length < 2) return distinct[0] ?? null;
  return `[${distinct.join(', ')}]`;
}
