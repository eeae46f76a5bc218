import { useEffect, useState } from 'preact/hooks';
import type { ServiceName } from './api.ts';
import { dateAndTime } from './format.ts';
import { everything, filterOf, type ServiceFilter, searchOf } from './service-filter.ts';

export type Place =
  /** Without a filter: the one that was looked at last. */
  | { readonly view: 'services'; readonly filter?: ServiceFilter }
  | { readonly view: 'fleet' }
  | { readonly view: 'trace'; readonly traceId: string }
  | { readonly view: 'service'; readonly service: ServiceName; readonly at: number | undefined };

/** Of the list of Services, for when one comes back to it. */
let lastFilter = everything;

export function placeOf({ pathname, search }: Pick<Location, 'pathname' | 'search'>): Place {
  const [first, cluster, namespace, name] = pathname.split('/').slice(1).map(decoded);
  if (first === 'fleet') return { view: 'fleet' };
  if (first === 'traces' && cluster) return { view: 'trace', traceId: cluster };
  if (first === 'services' && cluster && namespace && name) {
    const at = Number(new URLSearchParams(search).get('at') ?? Number.NaN);
    return { view: 'service', service: { cluster, namespace, name }, at: Number.isFinite(at) ? at : undefined };
  }
  return { view: 'services', filter: filterOf(search) };
}

/** As it is, where it is not well encoded. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function pathOf(place: Place): string {
  switch (place.view) {
    case 'services':
      return `/${searchOf(place.filter ?? lastFilter)}`;
    case 'fleet':
      return '/fleet';
    case 'trace':
      return `/traces/${encodeURIComponent(place.traceId)}`;
    case 'service': {
      const { cluster, namespace, name } = place.service;
      const path = ['services', cluster, namespace, name].map(encodeURIComponent).join('/');
      return `/${path}${place.at === undefined ? '' : `?at=${wholeMs(place.at)}`}`;
    }
  }
}

/** The first whole millisecond at which what happened then has happened. */
export const wholeMs = (at: number): number => Math.ceil(at);

export function titleOf(place: Place): string {
  switch (place.view) {
    case 'services':
      return 'Services · Sluice';
    case 'fleet':
      return 'Fleet · Sluice';
    case 'trace':
      return `Trace ${place.traceId.slice(0, 8)} · Sluice`;
    case 'service': {
      const { namespace, name } = place.service;
      return `${namespace}/${name}${place.at === undefined ? '' : ` at ${dateAndTime(place.at)}`} · Sluice`;
    }
  }
}

/** Goes somewhere else. `replace`: without a step in the browser's history, as when a slider moves. */
export function go(place: Place, replace = false): void {
  const path = pathOf(place);
  if (path === location.pathname + location.search) return;
  if (replace) history.replaceState(null, '', path);
  else {
    history.pushState(null, '', path);
    scrollTo(0, 0);
  }
  dispatchEvent(new PopStateEvent('popstate'));
}

/** Where a click on a link leads, unless it is meant for a new tab. */
export function follows(event: MouseEvent, place: Place): void {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  go(place);
}

export function usePlace(): Place {
  const [place, setPlace] = useState(placeOf(location));
  if (place.view === 'services' && place.filter !== undefined) lastFilter = place.filter;
  useEffect(() => {
    const moved = () => setPlace(placeOf(location));
    addEventListener('popstate', moved);
    return () => removeEventListener('popstate', moved);
  }, []);
  return place;
}
