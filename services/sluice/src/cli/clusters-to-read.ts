import type { Configuration } from '@sluice/configuration';
import { hasDefaultCluster } from '@sluice/kubernetes';

/** The clusters to read: without any configuration, the one that kubectl uses. Not for commands that write (ADR 0016). */
export function clustersToRead({ clusters, clusterSecrets, bus, store }: Configuration) {
  const isFleet = bus.kind !== 'memory' || store.kind !== 'memory';
  const useDefault = clusters.length === 0 && clusterSecrets === undefined && !isFleet;
  return { clusters: useDefault && hasDefaultCluster(process.env) ? [{}] : clusters, clusterSecrets };
}
