import { useEffect, useState } from 'preact/hooks';
import type { ServiceName } from './api.ts';
import { inUrl } from './cluster-names.ts';
import { dateAndTime } from './format.ts';
import { html } from './html.ts';
import { type LogicalServiceFilter, noLogicalFilter } from './logical-service-filter.ts';
import { filterOf, noFilter, type ServiceFilter, searchOf } from './service-filter.ts';
import type { TimeRange } from './time-range.ts';
import { readFilter, writeFilter } from './url-filter.ts';

export type Route =
  /** Default filter: the last one. */
  | { readonly view: 'services'; readonly filter?: ServiceFilter }
  | { readonly view: 'fleet' }
  /** Default filter: the last one. */
  | { readonly view: 'logicalServices'; readonly filter?: LogicalServiceFilter }
  | LogicalServiceRoute
  | RecordingRoute
  | { readonly view: 'trace'; readonly traceId: string }
  | ServiceRoute;

/** One Service over all clusters. */
export interface LogicalServiceRoute {
  readonly view: 'logicalService';
  readonly namespace: string;
  readonly name: string;
  /** UID or name of a cluster that counts as lost. */
  readonly without?: string | undefined;
  /** Opens the Service of the only cluster that has it. Default: shows it over all clusters. */
  readonly opensOnly?: true;
}

export interface RecordingRoute {
  readonly view: 'recording';
  readonly question: Question;
  readonly period: Period;
  /** Takes the place of the period. */
  readonly range?: TimeRange | undefined;
  /** UID or name. Default: all clusters. */
  readonly cluster?: string | undefined;
}

export interface ServiceRoute {
  readonly view: 'service';
  readonly service: ServiceName;
  /** Time to show; undefined: now. */
  readonly at?: number | undefined;
  /** The part of the history to show; undefined: all of it. */
  readonly range?: TimeRange | undefined;
  /** The Pod to show the history of; undefined: all Pods. */
  readonly pod?: string | undefined;
}

/** Questions about all Services, with their titles. */
export const questions = {
  problems: 'Problems',
  outages: 'Outages',
  stuck: 'Stuck',
  slow: 'Slow',
  flapping: 'Flapping',
  drain: 'Drain',
  node: 'Node',
} as const;
export type Question = keyof typeof questions;

/** How far back from the end of the recording, in milliseconds. */
export const periods = {
  '15m': 900_000,
  '1h': 3_600_000,
  '6h': 21_600_000,
  '24h': 86_400_000,
  all: Number.POSITIVE_INFINITY,
} as const;
export type Period = keyof typeof periods;

/** The last filters of the lists of Services, restored on return to them. */
let lastFilter = noFilter;
let lastLogicalFilter = noLogicalFilter;

export function parseRoute({ pathname, search }: Pick<Location, 'pathname' | 'search'>): Route {
  const query = new URLSearchParams(search);
  const [first, second, namespace, name] = pathname.split('/').slice(1).map(decode);
  if (first === 'fleet') return { view: 'fleet' };
  if (first === 'logical-services') {
    if (!second || !namespace) return { view: 'logicalServices', filter: readFilter(search, noLogicalFilter) };
    return { view: 'logicalService', namespace: second, name: namespace, without: query.get('without') || undefined };
  }
  if (first === 'recording') {
    const period = query.get('period') ?? '';
    return {
      view: 'recording',
      question: second !== undefined && Object.hasOwn(questions, second) ? (second as Question) : 'problems',
      period: Object.hasOwn(periods, period) ? (period as Period) : '1h',
      range: rangeIn(query),
      cluster: query.get('cluster') || undefined,
    };
  }
  if (first === 'traces' && second) return { view: 'trace', traceId: second };
  if (first === 'services' && second && namespace && name) {
    return {
      view: 'service',
      service: { cluster: second, namespace, name },
      at: timeIn(query, 'at'),
      range: rangeIn(query),
      pod: query.get('pod') || undefined,
    };
  }
  // As the CLI names a Service.
  if (first === 'services' && second && namespace) {
    return { view: 'logicalService', namespace: second, name: namespace, opensOnly: true };
  }
  return { view: 'services', filter: filterOf(search) };
}

function timeIn(query: URLSearchParams, name: string): number | undefined {
  const at = Number(query.get(name) ?? Number.NaN);
  return Number.isFinite(at) ? at : undefined;
}

function rangeIn(query: URLSearchParams): TimeRange | undefined {
  const [since, until] = [timeIn(query, 'since'), timeIn(query, 'until')];
  return since === undefined || until === undefined || since >= until ? undefined : { since, until };
}

/** Returns a malformed part unchanged. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function pathOf(route: Route): string {
  switch (route.view) {
    case 'services':
      return `/${servicesQuery(route.filter ?? lastFilter)}`;
    case 'fleet':
      return '/fleet';
    case 'logicalServices':
      return `/logical-services${writeFilter(route.filter ?? lastLogicalFilter, noLogicalFilter)}`;
    case 'logicalService': {
      const path = ['logical-services', route.namespace, route.name].map(encodeURIComponent).join('/');
      return `/${path}${queryOf({ without: route.without })}`;
    }
    case 'recording':
      return `/recording/${route.question}${queryOf({ ...route.range, period: route.period, cluster: route.cluster })}`;
    case 'trace':
      return `/traces/${encodeURIComponent(route.traceId)}`;
    case 'service': {
      const { cluster, namespace, name } = route.service;
      const path = ['services', inUrl(cluster), namespace, name].map(encodeURIComponent).join('/');
      const at = route.at === undefined ? undefined : wholeMs(route.at);
      return `/${path}${queryOf({ at, ...route.range, pod: route.pod })}`;
    }
  }
}

const servicesQuery = (filter: ServiceFilter): string => searchOf({ ...filter, cluster: inUrl(filter.cluster) });

function queryOf(values: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

/** Rounds up, so that the state at the result includes an event at `at`. */
export const wholeMs = (at: number): number => Math.ceil(at);

export function titleOf(route: Route): string {
  switch (route.view) {
    case 'services':
      return 'Services · Sluice';
    case 'fleet':
      return 'Fleet · Sluice';
    case 'logicalServices':
      return 'Clusters · Sluice';
    case 'logicalService':
      return `${route.namespace}/${route.name} in all clusters · Sluice`;
    case 'recording':
      return `${questions[route.question]} · Sluice`;
    case 'trace':
      return `Trace ${route.traceId.slice(0, 8)} · Sluice`;
    case 'service': {
      const { namespace, name } = route.service;
      return `${namespace}/${name}${route.at === undefined ? '' : ` at ${dateAndTime(route.at)}`} · Sluice`;
    }
  }
}

/** `replace`: adds no step to the browser's history. */
export function navigate(route: Route, replace = false): void {
  const path = pathOf(route);
  if (path === location.pathname + location.search) return;
  if (replace) history.replaceState(null, '', path);
  else {
    history.pushState(null, '', path);
    scrollTo(0, 0);
  }
  dispatchEvent(new PopStateEvent('popstate'));
}

interface LinkProps {
  readonly to: Route;
  readonly children?: unknown;
  readonly [attribute: string]: unknown;
}

/** A link within the page. With a modifier key it opens in a new tab, as usual. */
export function Link({ to, children, ...attributes }: LinkProps) {
  const onClick = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    navigate(to);
  };
  return html`<a href=${pathOf(to)} onClick=${onClick} ...${attributes}>${children}</a>`;
}

export function useRoute(): Route {
  const [route, setRoute] = useState(parseRoute(location));
  if (route.view === 'services' && route.filter !== undefined) lastFilter = route.filter;
  if (route.view === 'logicalServices' && route.filter !== undefined) lastLogicalFilter = route.filter;
  useEffect(() => {
    const update = () => setRoute(parseRoute(location));
    addEventListener('popstate', update);
    return () => removeEventListener('popstate', update);
  }, []);
  return route;
}
