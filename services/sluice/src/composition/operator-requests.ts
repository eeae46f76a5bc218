import { randomUUID } from 'node:crypto';
import { type Bus, recordId, type Topic } from '@sluice/bus';
import {
  encodeMessage,
  formatServiceKey,
  isServiceKey,
  type Message,
  partitionOf,
  type ServiceKey,
} from '@sluice/messages';
import { UsageError } from '@sluice/platform/process';
import type { DeadLetter } from '@sluice/store';

/**
 * Requests a resync of the Service from the watcher of its cluster. The resync re-arms every parked controller of the
 * Service.
 */
export async function retryParked(bus: Bus, key: ServiceKey, id: string): Promise<void> {
  const payload = encodeMessage({ kind: 'resync', scope: { key }, reason: 'retry requested by an operator' });
  await bus.append('requests', 0, [
    { key: 'resync', id: recordId('resync', 'retry', formatServiceKey(key), id), headers: {}, payload },
  ]);
}

/** Requests a resync of all Services of a cluster, which re-arms those that are parked. */
export async function requestClusterResync(bus: Bus, cluster: string, reason: string): Promise<void> {
  const records = Array.from({ length: bus.partitions }, (_, partition) => ({
    ...{ key: 'resync', id: recordId('resync', cluster, `${partition}`, randomUUID()), headers: {} },
    payload: encodeMessage({ kind: 'resync', scope: { partition, cluster }, reason }),
  }));
  await bus.append('requests', 0, records);
}

/**
 * Releases held-back removals of the Service. Its reconciler decides again at once, and the writer does not confirm the
 * removals.
 */
export function releaseParked(bus: Bus, key: ServiceKey, releasedAt: number, id: string): Promise<void> {
  return toReconciler(bus, { kind: 'release', key, releasedAt }, id);
}

/** Requests the compaction of a Service's slices from its reconciler, with a maximum number of writes. */
export function requestCompaction(
  bus: Bus,
  key: ServiceKey,
  { maxWrites, requestedAt, id }: { readonly maxWrites: number; readonly requestedAt: number; readonly id: string },
): Promise<void> {
  const reason = 'compaction requested by an operator';
  return toReconciler(bus, { kind: 'compaction', key, reason, requestedAt, maxWrites, onlyWorthwhile: false }, id);
}

type Request = Extract<Message, { readonly kind: 'release' | 'compaction' }>;

async function toReconciler(bus: Bus, request: Request, id: string): Promise<void> {
  const name = formatServiceKey(request.key);
  const record = { key: name, id: recordId(request.kind, name, id), headers: {}, payload: encodeMessage(request) };
  await bus.append('changes', partitionOf(name, bus.partitions), [record]);
}

const topics: readonly Topic[] = ['changes', 'mutations', 'requests'];

/**
 * Appends the record to the partition of its Service, or to its original one if it has none. It gets a new id, because the bus could drop the old one as a
 * duplicate.
 */
export async function replayDeadLetter(
  bus: Bus,
  { name, topic, partition, offset, record }: DeadLetter,
): Promise<void> {
  const known = topics.find((one) => one === topic);
  // The number of partitions may have changed since.
  const current =
    isServiceKey(record.key) && known !== 'requests' ? partitionOf(record.key, bus.partitions) : partition;
  if (known === undefined || current >= bus.partitions) {
    throw new UsageError(`cannot replay ${name}: this fleet has no partition ${current} of topic ${topic}`);
  }
  await bus.append(known, current, [{ ...record, id: recordId(record.id, 'replayed', offset) }]);
}
