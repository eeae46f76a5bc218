import type { ClusterSet } from '@sluice/clusters';
import { type Check, condition } from '@sluice/telemetry';

/**
 * Whether it is known of each cluster that it can be reached, or cannot. One that cannot makes no process unready: the others
 * go on.
 */
export function clusterChecks(clusters: Pick<ClusterSet, 'states' | 'settled'>): readonly Check[] {
  return [
    condition('clusters', () => clusters.settled, 'it is not known yet which can be reached'),
    ...clusters.states.map(({ name, phase }) =>
      condition(`cluster/${name}`, () => phase !== 'connecting', 'not reached yet'),
    ),
  ];
}
