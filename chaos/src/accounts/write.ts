import type { WrittenResource } from '@sluice/controllers';
import { essence } from './essence.ts';

/** Sluice has no use for the last two. */
const verbs = ['create', 'update', 'delete', 'patch', 'deletecollection'] as const;
type Verb = (typeof verbs)[number];

/** A write of Endpoints or an EndpointSlice, as the API server's audit log tells it. */
export interface Write {
  readonly auditId: string;
  readonly user: string;
  readonly verb: Verb;
  readonly resource: WrittenResource;
  readonly namespace: string;
  readonly name: string;
  /** resourceVersion that it asked for, or the empty text. */
  readonly precondition: string;
  /** Of what was sent; empty for deletions. */
  readonly essence: string;
  /** HTTP status. */
  readonly code: number;
  /** When the request came and when it was answered, in milliseconds since the Unix epoch. */
  readonly receivedAt: number;
  readonly answeredAt: number;
  /** resourceVersion of what is stored since, or the empty text. */
  readonly stored: string;
  /** Names of the Pods that it shows as ready; for creates and updates. */
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

/** Undefined for what is no write of Endpoints or EndpointSlices, or not answered yet. */
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
    essence: deleting ? '' : essence(resource, requestObject),
    code: event.responseStatus?.code ?? 0,
    receivedAt: milliseconds(event.requestReceivedTimestamp),
    answeredAt: milliseconds(event.stageTimestamp),
    stored: deleting ? '' : (responseObject?.metadata?.resourceVersion ?? ''),
    ready: deleting ? [] : readyPods(requestObject),
  };
}

/** The timestamps have microseconds, which decide between two writes of the same millisecond. */
function milliseconds(timestamp: string): number {
  const fraction = /\.(\d+)Z$/.exec(timestamp)?.[1] ?? '0';
  return Math.floor(Date.parse(timestamp) / 1000) * 1000 + Number(`0.${fraction}`) * 1000;
}

interface Address {
  readonly targetRef?: { readonly name?: string };
  readonly conditions?: { readonly ready?: boolean };
}

/** Of an EndpointSlice or of Endpoints. */
export function readyPods(object: unknown): readonly string[] {
  const { endpoints, subsets } = object as {
    readonly endpoints?: readonly Address[] | null;
    readonly subsets?: readonly { readonly addresses?: readonly Address[] | null }[] | null;
  };
  const ready = (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false);
  const addresses = (subsets ?? []).flatMap((subset) => subset.addresses ?? []);
  return [...ready, ...addresses].flatMap(({ targetRef }) => targetRef?.name ?? []);
}
