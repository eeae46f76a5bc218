import type { BusLimits } from '@sluice/bus';
import { MessageRecord, type Outcome, type RecordHead } from '@sluice/messages';

/**
 * The record of an Outcome, without what exceeds the limit of the bus: first the objects that were read back, which the
 * watch delivers as well, then all results. Without results the reconciler decides again.
 */
export function outcomeRecord(head: RecordHead, outcome: Outcome, { messageBytes }: BusLimits): MessageRecord {
  const record = new MessageRecord(head, outcome);
  // Reading the payload encodes it, which a bus without limits may never do.
  if (messageBytes === Number.POSITIVE_INFINITY || record.payload.length <= messageBytes) return record;
  const results = outcome.results.map(({ current, ...result }) => (current === null ? { ...result, current } : result));
  const smaller = new MessageRecord(head, { ...outcome, results });
  if (smaller.payload.length <= messageBytes) return smaller;
  const message = 'the results exceed what the bus accepts';
  return new MessageRecord(head, { ...outcome, status: 'conflict', results: [], message });
}
