import { connectionProblem } from '@sluice/platform';

/** Classifies a failed request by what the caller can do. */
export type ApiErrorKind =
  /** Retry the same request later: 429, 5xx, a broken connection, a timeout, or an answer that is not an API server's. */
  | 'retry'
  /** The object is not as assumed (409 Conflict or AlreadyExists): read it and decide again. */
  | 'conflict'
  /** The API server says that this very object does not exist. */
  | 'notFound'
  /** Nothing to do: the namespace is terminating. */
  | 'namespaceTerminating'
  /** The watch or page has expired (410): relist. */
  | 'gone'
  /** A retry would fail as well: a Status with 400, 401, 403, 422 and others. */
  | 'terminal';

/** Cap of Retry-After in milliseconds, so that a server or proxy cannot stop a watch or a Service for long. */
const maxRetryAfterMs = 120_000;

/** A request that the API server rejected, or that did not reach it. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code = 'KUBERNETES_API_ERROR';
  readonly kind: ApiErrorKind;
  /** HTTP status; 0 if there was no response. */
  readonly status: number;
  /** `reason` of the Status object, e.g. `AlreadyExists`, or the connection's error code. */
  readonly reason: string;
  /** From the header Retry-After, in milliseconds; at most `maxRetryAfterMs`. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    details: { kind: ApiErrorKind; status: number; reason: string; retryAfterMs?: number | undefined; cause?: unknown },
  ) {
    super(message, { cause: details.cause });
    this.kind = details.kind;
    this.status = details.status;
    this.reason = details.reason;
    const { retryAfterMs } = details;
    this.retryAfterMs = retryAfterMs === undefined ? undefined : Math.min(retryAfterMs, maxRetryAfterMs);
  }
}

/** Errors of the reflector about a response. */
const responded: ReadonlySet<string> = new Set([
  ...['WatchEndedEarly', 'StaleList', 'StaleWatch', 'WentBack', 'Aborted'],
  ...['ListTooLarge', 'WatchTooLarge'],
]);

/** Whether the API server did not answer, or answered that it cannot serve requests (5xx). */
export function isOutage({ status, reason }: ApiError): boolean {
  return status >= 500 || (status === 0 && !responded.has(reason));
}

/** Why the API server does not answer, in a few words: `connection refused`. */
export function outageReason({ status, reason, message }: ApiError): string {
  return connectionProblem(reason) ?? (status === 0 ? message : `HTTP status ${status}: ${message}`);
}

export function isApiError(error: unknown): error is ApiError {
  return error instanceof Error && 'code' in error && error.code === 'KUBERNETES_API_ERROR';
}
