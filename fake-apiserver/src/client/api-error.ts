import { ApiError, type ApiErrorKind } from '@sluice/kubernetes';
import { errorMessage } from '@sluice/runtime';
import { isStatusError, type Status } from '../server/status.ts';

/** Converts the error of a request into the client's ApiError. */
export function apiErrorOf(error: unknown): ApiError {
  if (isStatusError(error)) return ofStatus(error.status, error);
  const message = errorMessage(error);
  return new ApiError(message, { kind: 'retry', status: 0, reason: 'ECONNRESET', cause: error });
}

export function ofStatus(status: Status, cause?: unknown): ApiError {
  const retryAfter = status.details?.retryAfterSeconds;
  return new ApiError(status.message, {
    kind: kindOf(status),
    status: status.code,
    reason: status.reason,
    retryAfterMs: retryAfter === undefined ? undefined : retryAfter * 1000,
    cause,
  });
}

function kindOf(status: Status): ApiErrorKind {
  if (status.details?.causes?.some((cause) => cause.reason === 'NamespaceTerminating')) return 'namespaceTerminating';
  if (status.code === 404 || status.code === 409) return 'conflict';
  if (status.code === 410) return 'gone';
  return status.code === 429 || status.code >= 500 ? 'retry' : 'terminal';
}
