import type { NodeDisruptionView } from '../../src/view/schemas.ts';
import { dateAndTime, duration } from '../format.ts';
import { html } from '../html.ts';
import { Empty } from './notice.ts';
import { type AnswerProps, RecordedService } from './recorded-service.ts';
import type { Column } from './sort-items.ts';
import { SortableTable } from './sortable-table.ts';

type Disruption = Omit<NodeDisruptionView, 'services'>;

interface Row {
  readonly disruption: Disruption;
  readonly service: NodeDisruptionView['services'][number];
}

/** What the disruptions of Nodes did to Services: a row for each Service with Pods on the Node. */
export function NodeDisruptions({ items, showsCluster }: AnswerProps & { items: readonly NodeDisruptionView[] }) {
  if (items.length === 0) return html`<${Empty} title="None">No Node with Pods of a Service was disrupted.<//>`;
  const rows = items
    .toReversed()
    .flatMap(({ services, ...disruption }) => services.map((service) => ({ disruption, service })));
  const row = ({ disruption, service }: Row) => {
    const { cluster, clusterName, node, from, events } = disruption;
    return html`<tr>
      <td title=${textOf(events)}>${showsCluster && `${clusterName} · `}${node}</td>
      <td>${dateAndTime(from, true)}</td><td>${lengthOf(disruption)}</td>
      <td><${RecordedService} service=${{ ...service, cluster, clusterName }} at=${from} showsCluster=${false} /></td>
      ${service.isStartKnown ? impactCells(service) : html`<td colspan="5" class="faint">unknown</td>`}
      <td class=${service.lostMs > 0 ? 'poor' : ''}>${service.lostMs > 0 ? duration(service.lostMs) : ''}</td>
    </tr>`;
  };
  return html`<${SortableTable} label="disruptions of Nodes" columns=${columns} items=${rows} row=${row} />`;
}

const columns: readonly Column<Row>[] = [
  { name: 'Node', value: ({ disruption: { clusterName, node } }) => `${clusterName} ${node}` },
  { name: 'since', value: ({ disruption }) => disruption.from },
  { name: 'for', value: ({ disruption: { from, to } }) => (to ?? Number.MAX_SAFE_INTEGER) - from },
  { name: 'Service', value: ({ service: { namespace, name } }) => `${namespace}/${name}` },
  { name: 'on Node', value: ({ service }) => service.onNode },
  { name: 'left slices', value: ({ service }) => service.left },
  { name: 'slowest', value: ({ service }) => service.maxMs ?? 0 },
  { name: 'deleted', value: ({ service }) => service.deleted.length },
  { name: 'replaced', value: ({ service }) => service.replaced },
  { name: 'no ready endpoint', value: ({ service }) => service.lostMs },
];

const impactCells = ({ pods, onNode, shown, left, maxMs, deleted, replaced }: Row['service']) => html`
  <td>${onNode} of ${pods}</td><td>${left} of ${shown}</td><td>${maxMs === null ? '' : duration(maxMs)}</td>
  <td title=${[...new Set(deleted.map(({ reason }) => reason))].join(', ')}>${deleted.length}</td><td>${replaced}</td>`;

const textOf = (events: Disruption['events']): string =>
  events.map(({ at, text }) => `${dateAndTime(at, true)} ${text}`).join('\n');

const lengthOf = ({ from, to, isDeleted }: Disruption): string =>
  to === null ? 'no recovery' : isDeleted ? 'deleted' : duration(to - from);
