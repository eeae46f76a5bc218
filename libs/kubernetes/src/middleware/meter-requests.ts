import { isApiError } from '../api-error.ts';
import type { Resource } from '../cluster.ts';
import type { Verb } from '../cluster-request.ts';
import type { Middleware } from '../middleware.ts';

/** `status`: null on success, the HTTP status of a failure, or 0 if there was no response. */
export type OnResponse = (verb: Exclude<Verb, 'identity'>, resource: Resource, status: number | null) => void;

/** Reports the response to each request for a resource. */
export function meterRequests(onResponse: OnResponse): Middleware {
  return async (request, next) => {
    try {
      const response = await next(request);
      if (request.verb !== 'identity') onResponse(request.verb, request.resource, null);
      return response;
    } catch (error) {
      if (request.verb !== 'identity' && isApiError(error)) onResponse(request.verb, request.resource, error.status);
      throw error;
    }
  };
}
