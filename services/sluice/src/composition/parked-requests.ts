import { type Bus, recordId } from '@sluice/bus';
import { encodeMessage, formatServiceKey, partitionOf, type ServiceKey } from '@sluice/messages';

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

/**
 * Releases held-back removals of the Service. Its reconciler decides again at once, and the writer does not confirm the
 * removals.
 */
export async function releaseParked(bus: Bus, key: ServiceKey, releasedAt: number, id: string): Promise<void> {
  const name = formatServiceKey(key);
  const payload = encodeMessage({ kind: 'release', key, releasedAt });
  await bus.append('changes', partitionOf(name, bus.partitions), [
    { key: name, id: recordId('release', name, id), headers: {}, payload },
  ]);
}
