import { useEffect, useRef, useState } from 'preact/hooks';
import type { ServiceStatus, ServiceSummary } from '../../src/view/schemas.ts';
import { api } from '../api.ts';
import { inUrl } from '../cluster-names.ts';
import { ago, plural, shortTime, withLocalTimes } from '../format.ts';
import { html } from '../html.ts';
import { useKeys } from '../keys.ts';
import { Feed } from '../parts/feed.ts';
import { groupedRows } from '../parts/grouped-rows.ts';
import { Empty, Failed, Loading } from '../parts/notice.ts';
import { ServiceSearch } from '../parts/service-search.ts';
import { LatencyBar, ReadyBar, Status, statusText } from '../parts/status.ts';
import { useSelectedRow } from '../parts/use-selected-row.ts';
import { nameOf, useServices } from '../parts/use-services.ts';
import { VirtualRows } from '../parts/virtual-rows.ts';
import { recordedEnd } from '../recorded-end.ts';
import { Link, navigate } from '../router.ts';
import { isRestrictive, noFilter, type ServiceFilter } from '../service-filter.ts';
import { useLoaded, useNow } from '../use-loaded.ts';

const rowHeight = 40;

export function ServicesView({ filter }: { filter: ServiceFilter }) {
  const services = useServices(filter);
  const [selected, select] = useSelectedRow(services.total, (index) => {
    const service = services.at(index);
    if (service !== undefined) navigate({ view: 'service', service });
  });
  const [overview] = useLoaded(api.overview, []);
  const search = useRef<HTMLInputElement>(null);
  // The URL contains the filter, so that it can be shared; typing adds no steps to the browser's history.
  const change = (part: Partial<ServiceFilter>) => {
    navigate({ view: 'services', filter: { ...filter, ...part } }, true);
    select(-1);
  };
  useKeys({
    '/': () => search.current?.focus(),
    Escape: () => (document.activeElement === search.current ? search.current?.blur() : change(noFilter)),
  });
  const selectFirst = () => {
    if (services.total > 0) select(0);
  };
  const clusters = overview.state === 'ready' ? overview.value.clusters : [];
  const end = overview.state === 'ready' ? recordedEnd(overview.value) : undefined;
  return html`<div class="services">
    <h1 class="visually-hidden">Services</h1>
    <section>
      <div class="filters">
        <${ServiceSearch} input=${search} q=${filter.q} search=${(q: string) => change({ q })} selectFirst=${selectFirst} />
        <${StatusChips} counts=${services.counts} chosen=${filter.status} choose=${(status: string) => change({ status })} />
        <button
          class=${`chip ${filter.group ? 'chosen' : ''}`}
          aria-pressed=${filter.group !== ''}
          onClick=${() => change({ group: filter.group ? '' : 'namespace' })}
        >by namespace</button>
        <span class="spacer"></span>
        ${
          clusters.length > 1 &&
          html`<select aria-label="cluster" value=${inUrl(filter.cluster)} onChange=${(e: Event) => change({ cluster: chosenIn(e) })}>
            <option value="">all clusters</option>
            ${clusters.map(({ identity, name }) => html`<option value=${inUrl(identity)}>${name}</option>`)}
          </select>`
        }
      </div>
      <${Table}
        services=${services}
        selected=${selected}
        filter=${filter}
        order=${(sort: string) => change({ sort })}
        showsCluster=${clusters.length > 1}
        end=${end}
      />
      <footer class="faint">${totalsText(services, filter.status)}${overview.state === 'ready' && behindText(overview.value.behind)}</footer>
    </section>
    <${Feed} showsCluster=${clusters.length > 1} />
  </div>`;
}

/** `3 Services: 2 ok, 1 empty · 8/9 endpoints ready` */
function totalsText({ total, counts, endpoints }: TableProps['services'], status: string): string {
  const parts = presentStatuses(counts).filter((one) => (status === '' ? one !== 'deleted' : one === status));
  const byStatus = parts.map((one) => `${counts[one]} ${one}`).join(', ');
  return `${plural(total, 'Service')}${byStatus && `: ${byStatus}`} · ${endpoints.ready}/${endpoints.all} endpoints ready`;
}

const presentStatuses = (counts: Readonly<Record<string, number>>, chosen = '') =>
  (Object.keys(statusText) as ServiceStatus[]).filter((status) => counts[status] || status === chosen);

function behindText(behind: number): string {
  return behind > 0 ? ` · reading the history (${behind} logs left)` : '';
}

const chosenIn = (event: Event): string => (event.target as HTMLSelectElement).value;

interface TableProps {
  readonly services: ReturnType<typeof useServices>;
  readonly selected: number;
  readonly filter: ServiceFilter;
  readonly order: (sort: string) => void;
  readonly showsCluster: boolean;
  /** Of a recording without its clusters. */
  readonly end: number | undefined;
}

/** Names with the order of a column, its direction, and its style. */
const columns = [
  { name: 'status', sort: 'problem', says: 'problems first' },
  { name: 'Service', sort: 'name', says: 'by name' },
  { name: 'ready', sort: 'ready', says: 'least ready first' },
  { name: 'slices', style: 'number' },
  { name: 'last write', sort: 'changed', says: 'last changed first' },
  { name: 'latency', sort: 'latency', says: 'slowest write first', style: 'latency-head' },
] as const satisfies readonly Column[];

interface Column {
  readonly name: string;
  /** An order of the API. */
  readonly sort?: string;
  /** The order, for people. */
  readonly says?: string;
  readonly style?: string;
}

function Heading({ column, filter, order }: { column: Column } & Pick<TableProps, 'filter' | 'order'>) {
  const { name, sort, says, style = '' } = column;
  const isSorted = sort === filter.sort;
  const isDescending = sort === 'changed' || sort === 'latency';
  return html`<span role="columnheader" class=${style} aria-sort=${isSorted ? (isDescending ? 'descending' : 'ascending') : undefined}>
    ${sort === undefined ? name : html`<button title=${says} onClick=${() => order(sort)}>${name}${isSorted && html`<i aria-hidden="true"> ${isDescending ? '▾' : '▴'}</i>`}</button>`}
  </span>`;
}

function Table({ services, selected, filter, order, showsCluster, end }: TableProps) {
  const now = useNow();
  const when = (time: number) => (end === undefined ? ago(time, now) : shortTime(time, end));
  if (services.problem && services.total === 0) return html`<${Failed} problem=${services.problem} />`;
  if (services.state === 'loading' && services.total === 0) return html`<${Loading} what="Services" />`;
  if (services.total === 0) {
    return isRestrictive(filter)
      ? html`<${Empty} title="No Service matches">Press Esc to show all.<//>`
      : html`<${Empty} title="No Services yet">New Services appear here.<//>`;
  }
  const rows = groupedRows(services.total, services.groups);
  const row = (number: number) => {
    const index = rows.at(number);
    if (typeof index === 'object') return html`<${GroupHeading} key=${`group ${index.namespace}`} group=${index} />`;
    const service = services.at(index);
    if (service === undefined) return html`<div class="row" key=${index}></div>`;
    return html`<${Row} key=${nameOf(service)} service=${service} when=${when} selected=${index === selected} showsCluster=${showsCluster} />`;
  };
  const show = (first: number, last: number) => services.show(rows.itemsAbove(first), rows.itemsAbove(last));
  return html`<div class="table" role="table" aria-label="Services">
    <div class="row head" role="row">
      ${columns.map((column) => html`<${Heading} key=${column.name} column=${column} filter=${filter} order=${order} />`)}
    </div>
    <${VirtualRows} count=${rows.count} rowHeight=${rowHeight} row=${row} selected=${rows.rowOf(selected)} onRange=${show} />
  </div>`;
}

function GroupHeading({ group: { namespace, total, endpoints } }: { group: TableProps['services']['groups'][number] }) {
  return html`<div class="row group" role="row">
    <span role="cell" aria-colspan=${columns.length}
      ><b>${namespace}</b> <small>${plural(total, 'Service')} · ${endpoints.ready}/${endpoints.all} endpoints ready</small></span
    >
  </div>`;
}

interface RowProps {
  readonly service: ServiceSummary;
  readonly when: (time: number) => string;
  readonly selected: boolean;
  readonly showsCluster: boolean;
}

function Row({ service, when, selected, showsCluster }: RowProps) {
  const { namespace, name, clusterName, lastChangeAt } = service;
  const fresh = useFresh(lastChangeAt);
  return html`<div class=${`row entry ${selected ? 'selected' : ''} ${fresh ? 'fresh' : ''}`} role="row">
    <span role="cell"><${Status} status=${service.status} reason=${service.reason} /></span>
    <span role="cell" class="name"
      ><${Link} to=${{ view: 'service', service }} title=${`${namespace}/${name}`}
        ><small>${showsCluster && `${clusterName} · `}${namespace}/</small>${name}<//
      >${service.reason && html`<small class="reason" title=${service.reason}>${withLocalTimes(service.reason)}</small>`}</span
    >
    <span role="cell"><${ReadyBar} ...${service} /></span>
    <span role="cell" class="number">${service.slices}</span>
    <span role="cell" class="faint">${lastChangeAt === null ? '–' : when(lastChangeAt)}</span>
    <span role="cell"><${LatencyBar} ms=${service.lastLatencyMs} /></span>
  </div>`;
}

/** True for a moment after the value changed. */
function useFresh(value: number | null): boolean {
  const [fresh, setFresh] = useState(false);
  const before = useRef(value);
  useEffect(() => {
    if (before.current === value) return;
    before.current = value;
    setFresh(true);
    const timer = setTimeout(() => setFresh(false), 900);
    return () => clearTimeout(timer);
  }, [value]);
  return fresh;
}

interface ChipsProps {
  readonly counts: Readonly<Record<string, number>>;
  readonly chosen: string;
  readonly choose: (status: string) => void;
}

function StatusChips({ counts, chosen, choose }: ChipsProps) {
  return html`<div class="chips" role="group" aria-label="status">
    ${presentStatuses(counts, chosen).map(
      (status) => html`<button
        class=${`chip ${status} ${status === chosen ? 'chosen' : ''}`}
        aria-pressed=${status === chosen}
        title=${statusText[status]}
        onClick=${() => choose(status === chosen ? '' : status)}
      ><i></i>${status} <b>${counts[status] ?? 0}</b></button>`,
    )}
  </div>`;
}
