/** What the caller can do about a failed request. */
export type Reaction =
  /** Try the same request again, later: 429, 5xx, a broken connection, a time-out. */
  | 'retry'
  /** The object is not as assumed (409, 404, AlreadyExists): look at it afresh and decide again. */
  | 'conflict'
  /** Nothing to do: the namespace is going away. */
  | 'namespaceTerminating'
  /** The watch or page is too old (410): list again. */
  | 'gone'
  /** It will fail again: 400, 401, 403, 422 and the rest. */
  | 'terminal';

/** Cap of Retry-After, in milliseconds: a server, or a proxy before it, must not silence a watch or a Service for long. */
export const maxRetryAfterMs = 120_000;

/** A request that the API server refused, or that did not reach it. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code = 'KUBERNETES_API_ERROR';
  readonly reaction: Reaction;
  /** HTTP status; 0 if there was no response. */
  readonly status: number;
  /** `reason` of the Status object, e.g. `AlreadyExists`, or the connection's error code. */
  readonly reason: string;
  /** From the header Retry-After, in milliseconds; at most `maxRetryAfterMs`. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    details: { reaction: Reaction; status: number; reason: string; retryAfterMs?: number | undefined; cause?: unknown },
  ) {
    super(message, { cause: details.cause });
    this.reaction = details.reaction;
    this.status = details.status;
    this.reason = details.reason;
    const { retryAfterMs } = details;
    this.retryAfterMs = retryAfterMs === undefined ? undefined : Math.min(retryAfterMs, maxRetryAfterMs);
  }
}

export function isApiError(error: unknown): error is ApiError {
  return error instanceof Error && 'code' in error && error.code === 'KUBERNETES_API_ERROR';
}
