import type { Bus } from '@sluice/bus';
import { encodeMessage, formatServiceKey, partitionOf, type ServiceKey } from '@sluice/messages';

/**
 * Asks the watcher of the cluster to tell the Service again. What it tells re-arms every parked controller of it, which
 * then decides on what is there now.
 */
export async function retryParked(bus: Bus, key: ServiceKey, id: string): Promise<void> {
  const payload = encodeMessage({ kind: 'resync', scope: { key }, reason: 'retry requested by an operator' });
  await bus.append('requests', 0, [
    { key: 'resync', id: `resync/retry/${formatServiceKey(key)}/${id}`, headers: {}, payload },
  ]);
}

/** Tells the reconciler of the Service that a person lets its endpoints go. It decides at once, and nobody looks again. */
export async function releaseParked(bus: Bus, key: ServiceKey, releasedAt: number, id: string): Promise<void> {
  const name = formatServiceKey(key);
  const payload = encodeMessage({ kind: 'release', key, releasedAt });
  await bus.append('changes', partitionOf(name, bus.partitions), [
    { key: name, id: `release/${name}/${id}`, headers: {}, payload },
  ]);
}
