import type { WrittenResource } from '@sluice/model';
import { contentDigest } from './content-digest.ts';

/** Sluice never uses the last two. */
const verbs = ['create', 'update', 'delete', 'patch', 'deletecollection'] as const;
type Verb = (typeof verbs)[number];

/** A write of Endpoints or an EndpointSlice in the API server's audit log. */
export interface Write {
  readonly auditId: string;
  readonly user: string;
  readonly verb: Verb;
  readonly resource: WrittenResource;
  readonly namespace: string;
  readonly name: string;
  /** resourceVersion precondition, or empty. */
  readonly precondition: string;
  /** Digest of the request body; empty for deletes. */
  readonly contentDigest: string;
  /** HTTP status. */
  readonly code: number;
  /** Times of request and response in milliseconds since the Unix epoch, with microsecond fractions. */
  readonly receivedAt: number;
  readonly answeredAt: number;
  /** resourceVersion of the stored object, or empty. */
  readonly stored: string;
  /** Names of the Pods that the object lists as ready. Empty for deletes. */
  readonly ready: readonly string[];
}

interface AuditEvent {
  readonly auditID: string;
  readonly stage: string;
  readonly verb: string;
  readonly user?: { readonly username?: string };
  readonly objectRef?: { readonly resource?: string; readonly namespace?: string; readonly name?: string };
  readonly responseStatus?: { readonly code?: number };
  readonly requestObject?: {
    readonly metadata?: { readonly name?: string; readonly resourceVersion?: string };
    readonly preconditions?: { readonly resourceVersion?: string };
  };
  readonly responseObject?: { readonly metadata?: { readonly resourceVersion?: string } };
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
}

/** Returns undefined unless the line is a completed write of Endpoints or EndpointSlices. */
export function parseWrite(line: string): Write | undefined {
  const event = JSON.parse(line) as AuditEvent;
  const { objectRef, requestObject, responseObject } = event;
  const verb = verbs.find((known) => known === event.verb);
  const resource = objectRef?.resource;
  if (resource !== 'endpoints' && resource !== 'endpointslices') return undefined;
  if (verb === undefined) return undefined;
  if (event.stage !== 'ResponseComplete' && event.stage !== 'Panic') return undefined;
  const deleting = verb === 'delete' || verb === 'deletecollection';
  return {
    auditId: event.auditID,
    user: event.user?.username ?? '',
    verb,
    resource,
    namespace: objectRef?.namespace ?? '',
    name: objectRef?.name ?? requestObject?.metadata?.name ?? '',
    precondition:
      (deleting ? requestObject?.preconditions?.resourceVersion : requestObject?.metadata?.resourceVersion) ?? '',
    contentDigest: deleting ? '' : contentDigest(resource, requestObject),
    code: event.responseStatus?.code ?? 0,
    receivedAt: milliseconds(event.requestReceivedTimestamp),
    answeredAt: milliseconds(event.stageTimestamp),
    stored: deleting ? '' : (responseObject?.metadata?.resourceVersion ?? ''),
    ready: deleting ? [] : readyPods(requestObject),
  };
}

/** Keeps microseconds, which order two writes in the same millisecond. */
function milliseconds(timestamp: string): number {
  const fraction = /\.(\d+)Z$/.exec(timestamp)?.[1] ?? '0';
  return Math.floor(Date.parse(timestamp) / 1000) * 1000 + Number(`0.${fraction}`) * 1000;
}

interface Address {
  readonly targetRef?: { readonly name?: string };
  readonly conditions?: { readonly ready?: boolean };
}

/** Ready Pods of an EndpointSlice or Endpoints object. */
export function readyPods(object: unknown): readonly string[] {
  const { endpoints, subsets } = object as {
    readonly endpoints?: readonly Address[] | null;
    readonly subsets?: readonly { readonly addresses?: readonly Address[] | null }[] | null;
  };
  const ready = (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false);
  const addresses = (subsets ?? []).flatMap((subset) => subset.addresses ?? []);
  return [...ready, ...addresses].flatMap(({ targetRef }) => targetRef?.name ?? []);
}
