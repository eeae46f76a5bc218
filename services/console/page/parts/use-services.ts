import { useEffect, useRef } from 'preact/hooks';
import type { ServiceList, ServiceSummary } from '../../src/view/schemas.ts';
import { type ApiProblem, api } from '../api.ts';
import type { ServiceFilter } from '../service-filter.ts';
import { useUpdates } from '../stream.ts';
import { usePages } from './use-pages.ts';

interface Services {
  readonly total: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly endpoints: ServiceList['endpoints'];
  /** Empty: they are not grouped. */
  readonly groups: NonNullable<ServiceList['groups']>;
  readonly at: (index: number) => ServiceSummary | undefined;
  /** Loads the pages of these rows. */
  readonly show: (first: number, last: number) => void;
  readonly state: 'loading' | 'ready';
  readonly problem: ApiProblem | undefined;
}

/** Order and counts are reloaded while Services change. */
const options = { pageSize: 200, everyMs: 2_000, onlyIfStale: true };

export const nameOf = ({ cluster, namespace, name }: Pick<ServiceSummary, 'cluster' | 'namespace' | 'name'>): string =>
  `${cluster}/${namespace}/${name}`;

/** The matching Services, loaded by page when they become visible and updated by the stream. */
export function useServices(filter: ServiceFilter): Services {
  const updated = useRef(new Map<string, ServiceSummary>());
  const load = async (range: { readonly offset: number; readonly limit: number }, signal: AbortSignal) => {
    const list = await api.services({ ...filter, ...range }, signal);
    for (const item of list.items) updated.current.delete(nameOf(item));
    // It becomes degraded although nothing happens.
    if (list.counts.rolling) pages.setStale();
    return list;
  };
  const pages = usePages<ServiceList>(load, Object.values(filter), options);
  useEffect(() => updated.current.clear(), Object.values(filter));
  useUpdates(({ services }) => {
    for (const service of services) updated.current.set(nameOf(service), service);
    pages.setStale();
  }, []);
  const { last, state, problem, show } = pages;
  return {
    ...{ total: last?.total ?? 0, counts: last?.counts ?? {}, endpoints: last?.endpoints ?? { ready: 0, all: 0 } },
    ...{ groups: last?.groups ?? [], state, problem, show },
    at(index) {
      const item = pages.at(index);
      return item && (updated.current.get(nameOf(item)) ?? item);
    },
  };
}
