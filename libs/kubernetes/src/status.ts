import { STATUS_CODES } from 'node:http';
import { asRecord, asString, backoffMs, isRecord, oneLine, type Random } from '@sluice/platform';
import { ApiError, type ApiErrorKind } from './api-error.ts';

/** An object that a request is about. */
export interface RequestedObject {
  /** `endpointslices` */
  readonly resource: string;
  readonly name: string;
}

/** Status line and headers of a rejected request. */
interface ResponseHead {
  readonly status: number;
  /** Value of the header Retry-After: seconds or a date. */
  readonly retryAfter?: string | undefined;
  /** Current time in milliseconds since the epoch, to evaluate such a date. */
  readonly now: number;
}

/** An API server's own messages are shorter; one that lists thousands of objects is cut. */
const longestMessage = 4096;

/**
 * The ApiError for a rejected request. `body` is the parsed response; undefined if it is not JSON. Only a Status is the answer
 * of an API server: a proxy without a backend also answers 404, and that passes.
 */
export function errorFromResponse(head: ResponseHead, body: unknown, requested?: RequestedObject): ApiError {
  const status = isRecord(body) && body.kind === 'Status' ? body : undefined;
  const details = asRecord(status?.details);
  const reason = asString(status?.reason) || `HTTP${head.status}`;
  // One line: it must not look like a line of Sluice's own output.
  const message = oneLine(asString(status?.message).slice(0, longestMessage)).trim();
  return new ApiError(message || plainMessage(head.status), {
    kind: status === undefined ? 'retry' : kindOf(head.status, reason, details, requested),
    status: head.status,
    reason,
    retryAfterMs: retryAfterMs(head, details),
  });
}

/** The error in an ERROR event of a watch, whose object is a Status that carries its own code. */
export function errorFromStatus(object: unknown, now: number): ApiError {
  const code = asRecord(object).code;
  return errorFromResponse({ status: typeof code === 'number' ? code : 500, now }, object);
}

/** Admission webhooks choose the code of their refusals, so the reason decides where a conclusion depends on it. */
function kindOf(
  status: number,
  reason: string,
  details: Readonly<Record<string, unknown>>,
  requested: RequestedObject | undefined,
): ApiErrorKind {
  if (status === 403 && hasCause(details, 'NamespaceTerminating')) return 'namespaceTerminating';
  // Some servers send this reason with another status code.
  if (reason === 'Expired' || reason === 'Gone') return 'gone';
  if (status === 404 && reason === 'NotFound') {
    // Of the object's namespace, for example, it says nothing about the object.
    const isOfObject = details.kind === requested?.resource && details.name === requested?.name;
    return requested !== undefined && isOfObject ? 'notFound' : 'conflict';
  }
  if (status === 409 && (reason === 'Conflict' || reason === 'AlreadyExists')) return 'conflict';
  if ([404, 408, 409, 410, 425, 429].includes(status) || status >= 500) return 'retry';
  return 'terminal';
}

function hasCause(details: Readonly<Record<string, unknown>>, reason: string): boolean {
  const causes: readonly unknown[] = Array.isArray(details.causes) ? details.causes : [];
  return causes.some((cause) => asRecord(cause).reason === reason);
}

function retryAfterMs(head: ResponseHead, details: Readonly<Record<string, unknown>>): number | undefined {
  const header = head.retryAfter?.trim() ?? '';
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const date = header === '' ? Number.NaN : Date.parse(header);
  if (!Number.isNaN(date)) return Math.max(0, date - head.now);
  const seconds = details.retryAfterSeconds;
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : undefined;
}

/** For responses of other servers, whose content is not quoted: it may be of anything that a kubeconfig points to. */
function plainMessage(status: number): string {
  const name = STATUS_CODES[status];
  return `the server returned HTTP status ${status}${name === undefined ? '' : ` (${name})`}`;
}

/** Transient errors: broken connections, overload. */
const transient = { baseMs: 400, maxMs: 30_000 };
/** Errors that need an operator: permissions, tokens. */
const persistent = { baseMs: 5_000, maxMs: 120_000 };

/** Whether the error may pass without an operator. */
export const isTransient = ({ kind }: ApiError): boolean => kind === 'gone' || kind === 'retry';

/** Milliseconds until the next attempt. `failures` is the number of consecutive failures before this one. */
export function retryDelayMs(error: ApiError, failures: number, random: Random): number {
  const backoff = backoffMs(isTransient(error) ? transient : persistent, failures, random);
  return Math.max(backoff, error.retryAfterMs ?? 0);
}

/** A successful response that the reflector rejects. */
export function readerError(kind: 'retry' | 'gone' | 'terminal', reason: string, message: string): ApiError {
  return new ApiError(message, { kind, status: 0, reason });
}
