import { type BusRecord, recordId } from '@sluice/bus';
import { encodeMessage, type ResyncRequest } from '@sluice/messages';

/**
 * The record that asks the watchers for a resync. `id` is unique per request: a bus may drop a record whose id it has
 * seen, and the answer to an earlier request may be lost by now.
 */
export function resyncRequest(scope: ResyncRequest['scope'], reason: string, id: string): BusRecord {
  const request: ResyncRequest = { kind: 'resync', scope, reason };
  return { key: 'resync', id: recordId('resync', id), headers: {}, payload: encodeMessage(request) };
}
