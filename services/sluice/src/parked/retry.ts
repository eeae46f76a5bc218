import type { Bus } from '@sluice/bus';
import { encodeMessage, formatServiceKey, type ServiceKey } from '@sluice/messages';

/**
 * Asks the watcher of the cluster to tell the Service again. What it tells re-arms every parked controller of it, which
 * then decides on what is there now.
 */
export async function retryParked(bus: Bus, key: ServiceKey, id: string): Promise<void> {
  const payload = encodeMessage({ kind: 'resync', of: { key }, reason: 'a person asked to try it again' });
  await bus.append('requests', 0, [
    { key: 'resync', id: `resync/retry/${formatServiceKey(key)}/${id}`, headers: {}, payload },
  ]);
}
