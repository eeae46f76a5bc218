import { useEffect, useRef, useState } from 'preact/hooks';
import type { ServiceList, ServiceSummary } from '../../src/view/schemas.ts';
import { ApiProblem, api } from '../api.ts';
import type { ServiceFilter } from '../service-filter.ts';
import { useReconnect, useUpdates } from '../stream.ts';

interface Services {
  readonly total: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly at: (index: number) => ServiceSummary | undefined;
  /** Loads the pages of these rows. */
  readonly show: (first: number, last: number) => void;
  readonly state: 'loading' | 'ready';
  readonly problem: ApiProblem | undefined;
}

const pageSize = 200;
/** Interval of reloading order and counts while Services change. */
const reloadMs = 2_000;

export const nameOf = ({ cluster, namespace, name }: Pick<ServiceSummary, 'cluster' | 'namespace' | 'name'>): string =>
  `${cluster}/${namespace}/${name}`;

/** The matching Services, loaded by page when they become visible and updated by the stream. */
export function useServices(filter: ServiceFilter): Services {
  const pages = useRef(new Map<number, readonly ServiceSummary[]>());
  const updated = useRef(new Map<string, ServiceSummary>());
  const visible = useRef({ first: 0, last: 40 });
  const isStale = useRef(false);
  const [head, setHead] = useState<Pick<ServiceList, 'total' | 'counts'>>({ total: 0, counts: {} });
  const [state, setState] = useState<'loading' | 'ready'>('loading');
  const [problem, setProblem] = useState<ApiProblem>();
  const [, redraw] = useState(0);
  const loading = useRef(new Set<number>());
  const abort = useRef(new AbortController());

  const load = async (page: number) => {
    if (loading.current.has(page)) return;
    loading.current.add(page);
    const { signal } = abort.current;
    try {
      const list = await api.services({ ...filter, offset: page * pageSize, limit: pageSize }, signal);
      pages.current.set(page, list.items);
      for (const item of list.items) updated.current.delete(nameOf(item));
      setHead({ total: list.total, counts: list.counts });
      setState('ready');
      setProblem(undefined);
      redraw((n) => n + 1);
    } catch (error) {
      if (signal.aborted) return;
      setProblem(ApiProblem.from(error));
      isStale.current = true;
    } finally {
      if (!signal.aborted) loading.current.delete(page);
    }
  };
  const loadVisible = (reload: boolean) => {
    const { first, last } = visible.current;
    for (let page = Math.floor(first / pageSize); page <= Math.floor(Math.max(first, last - 1) / pageSize); page++) {
      if (reload || !pages.current.has(page)) void load(page);
    }
  };

  useEffect(() => {
    abort.current.abort();
    abort.current = new AbortController();
    loading.current.clear();
    pages.current.clear();
    updated.current.clear();
    setState('loading');
    loadVisible(true);
    const timer = setInterval(() => {
      if (!isStale.current) return;
      isStale.current = false;
      loadVisible(true);
    }, reloadMs);
    return () => {
      clearInterval(timer);
      abort.current.abort();
    };
  }, Object.values(filter));

  useUpdates(({ services }) => {
    for (const service of services) updated.current.set(nameOf(service), service);
    isStale.current = true;
    redraw((n) => n + 1);
  }, []);

  useReconnect(() => {
    isStale.current = true;
  });

  return {
    ...head,
    state,
    problem,
    at(index) {
      const item = pages.current.get(Math.floor(index / pageSize))?.[index % pageSize];
      return item && (updated.current.get(nameOf(item)) ?? item);
    },
    show(first, last) {
      visible.current = { first, last };
      loadVisible(false);
    },
  };
}
