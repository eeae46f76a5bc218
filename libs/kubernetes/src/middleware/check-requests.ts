import { bothBeforeSend } from '../before-send.ts';
import type { ClusterRequest } from '../cluster-request.ts';
import type { Middleware } from '../middleware.ts';

/** Whether a request may be sent. */
export interface RequestCheck {
  /** Asks a server, if that is due, before a request is queued. Rejects if the request must not be sent. */
  verify?(request: ClusterRequest): Promise<void> | undefined;
  /** Throws if the request must not be sent. */
  assert(request: ClusterRequest): void;
  /** Called with the error of a request that failed. */
  failed?(error: unknown): void;
}

/**
 * Asks the checks in their order, when a request is queued and again right before its bytes leave: it may wait for a connection
 * or a credential for longer than a lease lasts. Preconditions stop requests that are in flight by then.
 */
export function checkRequests(checks: readonly RequestCheck[]): Middleware {
  return async (request, next) => {
    const assertAll = () => {
      for (const check of checks) check.assert(request);
    };
    try {
      for (const check of checks) {
        const verified = check.verify?.(request);
        if (verified !== undefined) await verified;
        check.assert(request);
      }
      return await next({ ...request, beforeSend: bothBeforeSend(request.beforeSend, assertAll) });
    } catch (error) {
      for (const check of checks) check.failed?.(error);
      throw error;
    }
  };
}

/** The checks that a cluster has; their order is in `services/writer/src/may-write.ts`. */
export type ClusterChecks = Readonly<Partial<Record<'identity' | 'claim' | 'pause', RequestCheck>>>;
