import type { ClusterSet } from '@sluice/clusters';
import { type Check, condition } from '@sluice/telemetry';

/**
 * Whether it is known of each cluster that it can be reached, or cannot. One that cannot makes no process unready: the others
 * go on.
 */
export function clusterChecks(clusters: Pick<ClusterSet, 'states' | 'initialized'>): readonly Check[] {
  return [
    condition('clusters', () => clusters.initialized, 'cluster connections not checked yet'),
    ...clusters.states.map(({ name, phase }) =>
      condition(`cluster/${name}`, () => phase !== 'connecting', 'not connected yet'),
    ),
  ];
}
