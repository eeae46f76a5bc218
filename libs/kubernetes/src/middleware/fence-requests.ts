import { bothBeforeSend } from '../before-send.ts';
import type { Middleware } from '../middleware.ts';

/**
 * Checks of each request, when it is queued and again right before it is sent, that this process may still send it;
 * `assertCurrent` throws if its lease has expired. A process that was frozen for longer than its lease may have a successor. Requests
 * already in flight are stopped by preconditions.
 */
export function fenceRequests(assertCurrent: () => void): Middleware {
  return async (request, next) => {
    assertCurrent();
    return next({ ...request, beforeSend: bothBeforeSend(request.beforeSend, assertCurrent) });
  };
}
