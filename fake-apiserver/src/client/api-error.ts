import { ApiError, errorFromResponse, type RequestedObject } from '@sluice/kubernetes';
import { errorMessage } from '@sluice/platform';
import { isPlainAnswer } from '../faults/plain-answer.ts';
import { isStatusError, type Status } from '../server/status.ts';

/** Converts the error of a request into the client's ApiError. */
export function apiErrorOf(error: unknown, requested?: RequestedObject): ApiError {
  if (isStatusError(error)) return ofStatus(error.status, requested);
  if (isPlainAnswer(error)) return errorFromResponse({ status: error.status, now: 0 }, undefined, requested);
  const message = errorMessage(error);
  return new ApiError(message, { kind: 'retry', status: 0, reason: 'ECONNRESET', cause: error });
}

export function ofStatus(status: Status, requested?: RequestedObject): ApiError {
  // A Status has no dates, so the time does not matter.
  return errorFromResponse({ status: status.code, now: 0 }, status, requested);
}
