import type { BusRecord } from '@sluice/bus';
import { encodeMessage, type ResyncRequest } from '@sluice/messages';

/**
 * The record that asks the watchers to tell again. Each has an id of its own: a bus may drop one whose id it has seen,
 * and what answered an earlier request may be lost by now.
 */
export function resyncRequest(scope: ResyncRequest['scope'], reason: string, id: string): BusRecord {
  const request: ResyncRequest = { kind: 'resync', scope, reason };
  return { key: 'resync', id: `resync/${id}`, headers: {}, payload: encodeMessage(request) };
}
