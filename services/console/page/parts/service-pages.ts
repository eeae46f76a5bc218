import { useEffect, useRef, useState } from 'preact/hooks';
import type { ServiceList, ServiceSummary } from '../../src/view/schemas.ts';
import { ApiProblem, api } from '../api.ts';
import { useReturn, useUpdates } from '../live.ts';
import type { ServiceFilter } from '../service-filter.ts';

export interface ServicePages {
  readonly total: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly at: (index: number) => ServiceSummary | undefined;
  readonly want: (first: number, last: number) => void;
  readonly state: 'loading' | 'ready';
  readonly problem: ApiProblem | undefined;
}

const pageSize = 200;
/** While things change, the order and the counts are asked for again this often. */
const refreshMs = 2_000;

export const nameOf = ({ cluster, namespace, name }: Pick<ServiceSummary, 'cluster' | 'namespace' | 'name'>): string =>
  `${cluster}/${namespace}/${name}`;

/** The Services that match, asked for page by page as they come in sight, and kept up to date by the stream. */
export function useServices(filter: ServiceFilter): ServicePages {
  const pages = useRef(new Map<number, readonly ServiceSummary[]>());
  const news = useRef(new Map<string, ServiceSummary>());
  const wanted = useRef({ first: 0, last: 40 });
  const stale = useRef(false);
  const [head, setHead] = useState<Pick<ServiceList, 'total' | 'counts'>>({ total: 0, counts: {} });
  const [state, setState] = useState<'loading' | 'ready'>('loading');
  const [problem, setProblem] = useState<ApiProblem>();
  const [, redraw] = useState(0);
  const asking = useRef(new Set<number>());
  const abort = useRef(new AbortController());

  const ask = async (page: number) => {
    if (asking.current.has(page)) return;
    asking.current.add(page);
    const { signal } = abort.current;
    try {
      const list = await api.services({ ...filter, offset: page * pageSize, limit: pageSize }, signal);
      pages.current.set(page, list.items);
      for (const item of list.items) news.current.delete(nameOf(item));
      setHead({ total: list.total, counts: list.counts });
      setState('ready');
      setProblem(undefined);
      redraw((n) => n + 1);
    } catch (error) {
      if (signal.aborted) return;
      setProblem(error instanceof ApiProblem ? error : new ApiProblem(String(error)));
      stale.current = true;
    } finally {
      if (!signal.aborted) asking.current.delete(page);
    }
  };
  const askForWanted = (again: boolean) => {
    const { first, last } = wanted.current;
    for (let page = Math.floor(first / pageSize); page <= Math.floor(Math.max(first, last - 1) / pageSize); page++) {
      if (again || !pages.current.has(page)) void ask(page);
    }
  };

  useEffect(() => {
    abort.current.abort();
    abort.current = new AbortController();
    asking.current.clear();
    pages.current.clear();
    news.current.clear();
    setState('loading');
    askForWanted(true);
    const timer = setInterval(() => {
      if (!stale.current) return;
      stale.current = false;
      askForWanted(true);
    }, refreshMs);
    return () => {
      clearInterval(timer);
      abort.current.abort();
    };
  }, Object.values(filter));

  useUpdates(({ services }) => {
    for (const service of services) news.current.set(nameOf(service), service);
    stale.current = true;
    redraw((n) => n + 1);
  }, []);

  useReturn(() => {
    stale.current = true;
  });

  return {
    ...head,
    state,
    problem,
    at(index) {
      const item = pages.current.get(Math.floor(index / pageSize))?.[index % pageSize];
      return item && (news.current.get(nameOf(item)) ?? item);
    },
    want(first, last) {
      wanted.current = { first, last };
      askForWanted(false);
    },
  };
}
