import type { BusRecord } from '@sluice/bus';
import { encodeMessage, type ResyncRequest } from '@sluice/messages';

/** The record that asks the watchers to tell again. `id` is the same for the same loss, however often it is noticed. */
export function resyncRequest(of: ResyncRequest['of'], reason: string, id: string): BusRecord {
  const request: ResyncRequest = { kind: 'resync', of, reason };
  return { key: 'resync', id: `resync/${id}`, headers: {}, payload: encodeMessage(request) };
}
