import type { LogicalServiceList } from '../../src/view/schemas.ts';
import { html } from '../html.ts';
import { useNow } from '../use-loaded.ts';
import { lostText } from './lost-text.ts';

const maxShown = 5;

/** Clusters of which nothing is known at present, and how long their last known endpoints count. */
export function LostClusters({ list: { clusters, lostClusters } }: { list: LogicalServiceList }) {
  const now = useNow();
  const found = clusters.flatMap(({ lost, ...cluster }) => (lost === null ? [] : [{ ...cluster, lost }]));
  if (found.length === 0) return null;
  const more = found.slice(maxShown).map(({ clusterName }) => clusterName);
  return html`<ul class="lost-clusters" aria-label="lost clusters">
    ${found
      .slice(0, maxShown)
      .map(
        ({ cluster, clusterName, lost }) =>
          html`<li key=${cluster}><b>${clusterName}</b>: ${lostText(lost, lostClusters, now)}</li>`,
      )}
    ${more.length > 0 && html`<li title=${more.join(', ')}>and ${more.length} more lost clusters</li>`}
  </ul>`;
}
