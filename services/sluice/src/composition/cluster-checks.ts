import type { ClusterSet } from '@sluice/fleet/clusters';
import { type Check, condition } from '@sluice/telemetry';

/**
 * Ready once a connection to each cluster was attempted. An unavailable cluster does not make the process unready,
 * because the others are served.
 */
export function clusterChecks(clusters: Pick<ClusterSet, 'states' | 'initialized'>): readonly Check[] {
  return [
    condition('clusters', () => clusters.initialized, 'cluster connections not checked yet'),
    ...clusters.states.map(({ name, phase }) =>
      condition(`cluster/${name}`, () => phase !== 'connecting', 'not connected yet'),
    ),
  ];
}
