import { useRef } from 'preact/hooks';
import type { ConditionView, LogicalServiceList } from '../../src/view/schemas.ts';
import { api } from '../api.ts';
import { plural } from '../format.ts';
import { html } from '../html.ts';
import { useKeys } from '../keys.ts';
import { type LogicalServiceFilter, noLogicalFilter } from '../logical-service-filter.ts';
import { AsIfLost } from '../parts/as-if-lost.ts';
import { conditionNames } from '../parts/condition.ts';
import { LostClusters } from '../parts/lost-clusters.ts';
import { Empty, Failed, Loading } from '../parts/notice.ts';
import { maxColumns, ServiceMatrix } from '../parts/service-matrix.ts';
import { ServiceSearch } from '../parts/service-search.ts';
import { type Pages, usePages } from '../parts/use-pages.ts';
import { useSelectedRow } from '../parts/use-selected-row.ts';
import { navigate } from '../router.ts';

/** A row may have a hundred cells. */
const paging = { pageSize: 50, everyMs: 5_000 };

const severities = {
  '': 'all Services',
  info: 'with any condition',
  warning: 'warning or worse',
  critical: 'critical',
};

/** The Services over all clusters: where each is served, and what is wrong. */
export function LogicalServicesView({ filter }: { filter: LogicalServiceFilter }) {
  const search = useRef<HTMLInputElement>(null);
  const services = usePages<LogicalServiceList>(
    (range, signal) => api.logicalServices({ ...filter, ...range, maxClusters: maxColumns }, signal),
    Object.values(filter),
    paging,
  );
  const list = services.last;
  const [selected, select] = useSelectedRow(list?.total ?? 0, (index) => {
    const service = services.at(index);
    if (service === undefined) return;
    const { namespace, name } = service;
    navigate({ view: 'logicalService', namespace, name, without: filter.without || undefined });
  });
  const change = (part: Partial<LogicalServiceFilter>) => {
    navigate({ view: 'logicalServices', filter: { ...filter, ...part } }, true);
    select(-1);
  };
  useKeys({
    '/': () => search.current?.focus(),
    Escape: () => (document.activeElement === search.current ? search.current?.blur() : change(noLogicalFilter)),
    ArrowRight: () => document.querySelector<HTMLElement>(`[data-row="${Math.max(0, selected)}"]`)?.focus(),
  });
  return html`<div class="logical-services">
    <h1 class="visually-hidden">Services over all clusters</h1>
    <div class="filters">
      <${ServiceSearch} input=${search} q=${filter.q} search=${(q: string) => change({ q })} selectFirst=${() => select(0)} />
      <input
        class="namespace"
        type="search"
        placeholder="namespace"
        aria-label="namespace"
        value=${filter.namespace}
        onChange=${(event: Event) => change({ namespace: chosenIn(event).trim() })}
      />
      <select aria-label="severity" value=${filter.severity} onChange=${(event: Event) => change({ severity: chosenIn(event) })}>
        ${Object.entries(severities).map(([value, text]) => html`<option key=${value} value=${value}>${text}</option>`)}
      </select>
      <${AsIfLost} cluster=${filter.without} choose=${(without: string) => change({ without })} />
      ${list && html`<${ConditionChips} counts=${list.counts} chosen=${filter.condition} choose=${(condition: string) => change({ condition })} />`}
    </div>
    ${list && html`<${LostClusters} list=${list} />`}
    <${Answer} filter=${filter} services=${services} selected=${selected} />
    ${list && html`<footer class="faint">${plural(list.total, 'Service')} in ${plural(list.clusters.length, 'cluster')}</footer>`}
  </div>`;
}

interface AnswerProps {
  readonly filter: LogicalServiceFilter;
  readonly services: Pages<LogicalServiceList>;
  readonly selected: number;
}

function Answer({ filter, services, selected }: AnswerProps) {
  const { last: list, problem, state } = services;
  if (problem && (list === undefined || state === 'loading')) return html`<${Failed} problem=${problem} />`;
  if (list === undefined) return html`<${Loading} what="Services" />`;
  if (list.total > 0)
    return html`<${ServiceMatrix} list=${list} services=${services} selected=${selected} without=${filter.without} />`;
  const isFiltered = Object.values({ ...filter, without: '' }).some((value) => value !== '');
  return isFiltered
    ? html`<${Empty} title="No Service matches">Press Esc to show all.<//>`
    : html`<${Empty} title="No Services yet">New Services appear here.<//>`;
}

const chosenIn = (event: Event): string => (event.target as HTMLInputElement | HTMLSelectElement).value;

interface ConditionChipsProps {
  readonly counts: Readonly<Record<string, number>>;
  readonly chosen: string;
  readonly choose: (condition: string) => void;
}

function ConditionChips({ counts, chosen, choose }: ConditionChipsProps) {
  const all = Object.keys(conditionNames) as ConditionView['type'][];
  const present = all.filter((type) => counts[type] || type === chosen);
  return html`<div class="chips" role="group" aria-label="condition">
    ${present.map(
      (type) => html`<button
        key=${type}
        class=${`chip ${type === chosen ? 'chosen' : ''}`}
        aria-pressed=${type === chosen}
        title=${type}
        onClick=${() => choose(type === chosen ? '' : type)}
      >${conditionNames[type]} <b>${counts[type] ?? 0}</b></button>`,
    )}
  </div>`;
}
