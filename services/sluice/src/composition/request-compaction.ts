import { type Bus, recordId } from '@sluice/bus';
import { encodeMessage, formatServiceKey, partitionOf, type ServiceKey } from '@sluice/messages';

/** Requests the compaction of a Service's slices from its reconciler, with a maximum number of writes. */
export async function requestCompaction(
  bus: Bus,
  key: ServiceKey,
  { maxWrites, requestedAt, id }: { readonly maxWrites: number; readonly requestedAt: number; readonly id: string },
): Promise<void> {
  const name = formatServiceKey(key);
  const reason = 'compaction requested by an operator';
  const payload = encodeMessage({ kind: 'compaction', key, reason, requestedAt, maxWrites, onlyWorthwhile: false });
  await bus.append('changes', partitionOf(name, bus.partitions), [
    { key: name, id: recordId('compaction', name, id), headers: {}, payload },
  ]);
}
