import type { LogicalCluster, LogicalServiceList, LogicalServiceSummary } from '../../src/view/schemas.ts';
import { duration } from '../format.ts';
import { html } from '../html.ts';
import { Link } from '../router.ts';
import { noFilter } from '../service-filter.ts';
import { useNow } from '../use-loaded.ts';
import { useMedia } from '../use-media.ts';
import { type ClusterCell, cellsOf, presentStates, servingTexts, stateCountsText } from './cluster-cells.ts';
import { Condition } from './condition.ts';
import { moveBetweenCells } from './move-between-cells.ts';
import { ReadyBar } from './status.ts';
import type { Pages } from './use-pages.ts';
import { VirtualRows } from './virtual-rows.ts';

/** With more clusters, a row shows their number by state. */
export const maxColumns = 100;
/** With more clusters, cells are too narrow for numbers and names. */
const [wideNumbers, phoneNumbers] = [20, 8];

interface ServiceMatrixProps {
  readonly list: LogicalServiceList;
  readonly services: Pages<LogicalServiceList>;
  readonly selected: number;
  readonly without: string;
}

/** Services from top to bottom, clusters from left to right. */
export function ServiceMatrix({ list: { clusters, total }, services, selected, without }: ServiceMatrixProps) {
  const [isStacked, isPhone] = [useMedia('(max-width: 1000px)'), useMedia('(max-width: 640px)')];
  const hasColumns = clusters.length <= maxColumns;
  const hasNumbers = clusters.length <= (isPhone ? phoneNumbers : wideNumbers);
  const row = (index: number) => {
    const service = services.at(index);
    if (service === undefined) return html`<div class="row" key=${index}></div>`;
    const { namespace, name, conditions, endpoints } = service;
    const [worst] = conditions;
    return html`<div class=${`row entry ${index === selected ? 'selected' : ''}`} role="row" key=${`${namespace}/${name}`}>
      <span role="cell" class="name"
        ><${Link}
          to=${{ view: 'logicalService', namespace, name, without: without || undefined }}
          title=${`${namespace}/${name}`}
          data-row=${index}
          data-column="-1"
          ><small>${namespace}/</small>${name}<//
        ></span
      >
      <span role="cell" class="worst">
        ${worst ? html`<${Condition} condition=${worst} more=${conditions.length - 1} />` : html`<small>–</small>`}
      </span>
      <span role="cell"><${ReadyBar} ...${endpoints} endpoints=${endpoints.all} /></span>
      ${hasColumns ? html`<${Cells} service=${service} clusters=${clusters} index=${index} hasNumbers=${hasNumbers} />` : html`<${StateCounts} states=${service.states} />`}
    </div>`;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    moveBetweenCells(event);
    // The keys that select a row are others.
    if (event.defaultPrevented) event.stopPropagation();
  };
  const kind = hasColumns ? (hasNumbers ? '' : 'narrow') : 'counted';
  return html`<div
      class=${`table matrix ${kind}`}
      role="table"
      aria-label="Services and clusters"
      style=${{ '--columns': hasColumns ? clusters.length : 0 }}
      onKeyDown=${onKeyDown}
    >
      <div class="row head" role="row">
        <span role="columnheader">Service</span><span role="columnheader">worst condition</span><span role="columnheader">ready</span>
        ${
          hasColumns && hasNumbers
            ? html`<${ClusterNames} clusters=${clusters} />`
            : html`<span role="columnheader">${clusters.length} clusters${hasColumns ? ', by name' : ', by state'}</span>`
        }
      </div>
      <${VirtualRows} count=${total} rowHeight=${isPhone ? 92 : isStacked ? 68 : 40} row=${row} selected=${selected} onRange=${services.show} />
    </div>
    <${Legend} />`;
}

function ClusterNames({ clusters }: { clusters: readonly LogicalCluster[] }) {
  const now = useNow();
  const isFew = clusters.length <= 6;
  return html`<span role="columnheader" aria-label="clusters" class=${`cells names ${isFew ? '' : 'upright'}`}>
    ${clusters.map(({ cluster, clusterName, lost: found }) => {
      const lost = !found ? '' : found.since === 0 ? 'lost' : `lost ${duration(Math.max(0, now - found.since))}`;
      return html`<${Link}
        to=${{ view: 'services', filter: { ...noFilter, cluster } }}
        title=${`Services of ${clusterName}${found ? `, ${lost}: ${found.reason}` : ''}`}
        data-state=${lost ? 'lost' : undefined}
        >${clusterName}${lost && html` <small>${lost}</small>`}<//
      >`;
    })}
  </span>`;
}

interface CellsProps {
  readonly service: LogicalServiceSummary;
  readonly clusters: readonly LogicalCluster[];
  readonly index: number;
  readonly hasNumbers: boolean;
}

function Cells({ service, clusters, index, hasNumbers }: CellsProps) {
  const { namespace, name } = service;
  return html`<span role="cell" class="cells">
    ${cellsOf(service, clusters).map((cell, column) => {
      const text = `${namespace}/${name} in ${cell.clusterName}: ${cell.text}`;
      const place = { 'data-state': cell.state, 'data-row': index, 'data-column': column, tabindex: -1 };
      const number = hasNumbers ? numbersOf(cell) : '';
      const [one, other] = cell.services;
      if (one === undefined)
        return html`<span role="img" title=${text} aria-label=${text} ...${place}>${number}</span>`;
      const to = other ? ({ view: 'logicalService', namespace, name } as const) : serviceIn(one, namespace);
      return html`<${Link} to=${to} title=${text} aria-label=${text} ...${place}>${number}<//>`;
    })}
  </span>`;
}

const serviceIn = ({ cluster, name }: LogicalServiceSummary['clusters'][number], namespace: string) =>
  ({ view: 'service', service: { cluster, namespace, name } }) as const;

function numbersOf({ state, ready, all, services }: ClusterCell): string {
  if (state === 'missing' || state === 'noneExpected') return '–';
  return services.length === 0 ? '?' : `${ready}/${all}`;
}

/** How many clusters are in each state. */
function StateCounts({ states }: { states: LogicalServiceSummary['states'] }) {
  return html`<span role="cell" class="state-counts" title=${stateCountsText(states)}>
    <span aria-hidden="true">${presentStates(states).map(([state, count]) => html`<i data-state=${state} style=${{ flexGrow: count }}></i>`)}</span>
    <small>${stateCountsText(states)}</small>
  </span>`;
}

function Legend() {
  const states = Object.entries(servingTexts);
  return html`<p class="legend matrix">
    ${states.map(([state, text]) => html`<span key=${state}><i data-state=${state}></i>${text}</span>`)}
  </p>`;
}
