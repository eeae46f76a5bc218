import type { LogicalServiceDetail } from '../../src/view/schemas.ts';
import { duration } from '../format.ts';
import { html } from '../html.ts';
import { Link, type LogicalServiceRoute } from '../router.ts';
import { servingTexts } from './cluster-cells.ts';
import { lossText, zonesText } from './loss-text.ts';
import type { Column } from './sort-items.ts';
import { SortableTable } from './sortable-table.ts';

type Member = LogicalServiceDetail['clusters'][number];

interface ClusterTableProps {
  readonly route: LogicalServiceRoute;
  readonly detail: LogicalServiceDetail;
}

/** A Service in each cluster, and what the loss of the cluster would mean. */
export function ClusterTable({ route, detail }: ClusterTableProps) {
  const losses = new Map(detail.losses.map((loss) => [loss.cluster, loss]));
  const columns: readonly Column<Member>[] = [
    { name: 'cluster', value: ({ clusterName }) => clusterName },
    { name: 'state', value: ({ state }) => servingTexts[state] },
    { name: 'ready', value: ({ endpoints }) => endpoints.ready },
    { name: 'serving', value: ({ endpoints }) => endpoints.serving },
    { name: 'terminating', value: ({ endpoints }) => endpoints.terminating },
    { name: 'all', value: ({ endpoints }) => endpoints.all },
    { name: 'ready by zone', value: ({ zones }) => zonesText(zones) },
    { name: 'known', value: ({ ageMs }) => ageMs ?? 0 },
    { name: 'its loss would cost', value: ({ cluster }) => losses.get(cluster)?.share ?? 0 },
  ];
  const row = (member: Member) => {
    const { cluster, clusterName, name, state, endpoints, zones } = member;
    const loss = losses.get(cluster);
    return html`<tr key=${`${cluster}/${name}`}>
      <td>
        <${Link} class="name" to=${{ view: 'service', service: { cluster, namespace: detail.namespace, name } }}
          >${clusterName}${name !== detail.name && html` <small>${name}</small>`}<//
        >
      </td>
      <td><span class="serving" data-state=${state}><i aria-hidden="true"></i>${servingTexts[state]}</span></td>
      ${[endpoints.ready, endpoints.serving, endpoints.terminating, endpoints.all].map((count) => html`<td>${count}</td>`)}
      <td>${zonesText(zones)}</td>
      <td>${ageText(member)}</td>
      <td>
        ${loss ? lossText(loss) : '–'}
        ${loss && html` <${Link} class="trace" to=${{ ...route, without: clusterName }} title=${`as if ${clusterName} were lost`}>show<//>`}
      </td>
    </tr>`;
  };
  return html`<${SortableTable} label="clusters" columns=${columns} items=${detail.clusters} row=${row} />`;
}

function ageText({ ageMs, lostReason, counts, exists, isComplete }: Member): string {
  if (ageMs !== null) return `${duration(ageMs)} ago, ${lostReason}, ${counts ? 'counts' : 'does not count'}`;
  if (!exists) return 'only slices are left';
  if (!isComplete) return 'in part';
  return counts ? 'now' : 'counts as lost';
}
