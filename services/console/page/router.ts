import { useEffect, useState } from 'preact/hooks';
import type { ServiceName } from './api.ts';
import { dateAndTime } from './format.ts';
import { html } from './html.ts';
import { filterOf, noFilter, type ServiceFilter, searchOf } from './service-filter.ts';

export type Route =
  /** Default filter: the last one. */
  | { readonly view: 'services'; readonly filter?: ServiceFilter }
  | { readonly view: 'fleet' }
  | { readonly view: 'recording'; readonly question: Question; readonly period: Period }
  | { readonly view: 'trace'; readonly traceId: string }
  /** `at`: time to show; undefined: now. */
  | { readonly view: 'service'; readonly service: ServiceName; readonly at?: number | undefined };

/** Questions about all Services, with their titles. */
export const questions = {
  problems: 'Problems',
  outages: 'Outages',
  stuck: 'Stuck',
  slow: 'Slow',
  flapping: 'Flapping',
  drain: 'Drain',
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

/** The last filter of the list of Services, restored on return to it. */
let lastFilter = noFilter;

export function parseRoute({ pathname, search }: Pick<Location, 'pathname' | 'search'>): Route {
  const [first, second, namespace, name] = pathname.split('/').slice(1).map(decode);
  if (first === 'fleet') return { view: 'fleet' };
  if (first === 'recording') {
    const period = new URLSearchParams(search).get('period') ?? '';
    return {
      view: 'recording',
      question: second !== undefined && Object.hasOwn(questions, second) ? (second as Question) : 'problems',
      period: Object.hasOwn(periods, period) ? (period as Period) : '1h',
    };
  }
  if (first === 'traces' && second) return { view: 'trace', traceId: second };
  if (first === 'services' && second && namespace && name) {
    const at = Number(new URLSearchParams(search).get('at') ?? Number.NaN);
    return {
      view: 'service',
      service: { cluster: second, namespace, name },
      at: Number.isFinite(at) ? at : undefined,
    };
  }
  return { view: 'services', filter: filterOf(search) };
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
      return `/${searchOf(route.filter ?? lastFilter)}`;
    case 'fleet':
      return '/fleet';
    case 'recording':
      return `/recording/${route.question}?period=${route.period}`;
    case 'trace':
      return `/traces/${encodeURIComponent(route.traceId)}`;
    case 'service': {
      const { cluster, namespace, name } = route.service;
      const path = ['services', cluster, namespace, name].map(encodeURIComponent).join('/');
      return `/${path}${route.at === undefined ? '' : `?at=${wholeMs(route.at)}`}`;
    }
  }
}

/** Rounds up, so that the state at the result includes an event at `at`. */
export const wholeMs = (at: number): number => Math.ceil(at);

export function titleOf(route: Route): string {
  switch (route.view) {
    case 'services':
      return 'Services · Sluice';
    case 'fleet':
      return 'Fleet · Sluice';
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
  useEffect(() => {
    const update = () => setRoute(parseRoute(location));
    addEventListener('popstate', update);
    return () => removeEventListener('popstate', update);
  }, []);
  return route;
}
