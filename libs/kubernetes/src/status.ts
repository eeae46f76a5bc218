import { asRecord, asString, isRecord } from '@sluice/runtime';
import { ApiError, type Reaction } from './api-error.ts';

/** What is known of a refused request beside its body. */
export interface ResponseHead {
  readonly status: number;
  /** Value of the header Retry-After: seconds, or a date. */
  readonly retryAfter?: string | undefined;
  /** Milliseconds since the epoch, against which such a date counts. */
  readonly now: number;
}

/** The error that a refused request means. `body` is the parsed answer, or its text where it was not JSON. */
export function errorFromResponse(head: ResponseHead, body: unknown): ApiError {
  const status = isRecord(body) && body.kind === 'Status' ? body : undefined;
  const details = asRecord(status?.details);
  const reason = asString(status?.reason) || `HTTP${head.status}`;
  return new ApiError(asString(status?.message) || plainMessage(head.status, body), {
    reaction: reactionTo(head.status, reason, details),
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

function reactionTo(status: number, reason: string, details: Readonly<Record<string, unknown>>): Reaction {
  if (status === 403 && hasCause(details, 'NamespaceTerminating')) return 'namespaceTerminating';
  if (status === 410) return 'gone';
  if (status === 404 || status === 409) return 'conflict';
  if (status === 408 || status === 425 || status === 429 || status >= 500) return 'retry';
  // Some servers send what means 410 with another code.
  return reason === 'Expired' || reason === 'Gone' ? 'gone' : 'terminal';
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

/** For answers that no API server wrote, such as a proxy's page. */
function plainMessage(status: number, body: unknown): string {
  const text = typeof body === 'string' ? body.replace(/\s+/g, ' ').trim().slice(0, 200) : '';
  return text === '' ? `the server answered with HTTP status ${status}` : `HTTP status ${status}: ${text}`;
}
