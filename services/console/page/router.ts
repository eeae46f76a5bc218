import { useEffect, useState } from 'preact/hooks';
import type { ServiceName } from './api.ts';
import { dateAndTime } from './format.ts';
import { html } from './html.ts';
import { filterOf, noFilter, type ServiceFilter, searchOf } from './service-filter.ts';

export type Route =
  /** Default filter: the last one. */
  | { readonly view: 'services'; readonly filter?: ServiceFilter }
  | { readonly view: 'fleet' }
  | { readonly view: 'trace'; readonly traceId: string }
  /** `at`: time to show; undefined: now. */
  | { readonly view: 'service'; readonly service: ServiceName; readonly at?: number | undefined };

/** The last filter of the list of Services, restored on return to it. */
let lastFilter = noFilter;

export function parseRoute({ pathname, search }: Pick<Location, 'pathname' | 'search'>): Route {
  const [first, second, namespace, name] = pathname.split('/').slice(1).map(decode);
  if (first === 'fleet') return { view: 'fleet' };
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
