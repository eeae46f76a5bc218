import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiProblem } from '../api.ts';
import { useReconnect } from '../stream.ts';

interface Answer {
  readonly total: number;
  readonly items: readonly unknown[];
}

interface Options {
  readonly pageSize: number;
  /** Interval of reloading the visible pages. */
  readonly everyMs: number;
  /** Reloads them only if they may have changed. Default: always. */
  readonly onlyIfStale?: boolean;
}

export interface Pages<A extends Answer> {
  /** The last answer; undefined: there is none yet. */
  readonly last: A | undefined;
  readonly at: (index: number) => A['items'][number] | undefined;
  /** Loads the pages of these rows. */
  readonly show: (first: number, last: number) => void;
  /** Says that what is shown may have changed. */
  readonly setStale: () => void;
  readonly state: 'loading' | 'ready';
  readonly problem: ApiProblem | undefined;
}

type Load<A> = (range: { readonly offset: number; readonly limit: number }, signal: AbortSignal) => Promise<A>;

/** A list that is loaded by page when its rows become visible, and again when a dependency changes. */
export function usePages<A extends Answer>(
  load: Load<A>,
  dependencies: readonly unknown[],
  { pageSize, everyMs, onlyIfStale = false }: Options,
): Pages<A> {
  const pages = useRef(new Map<number, A['items']>());
  const visible = useRef({ first: 0, last: 40 });
  const isStale = useRef(false);
  const [last, setLast] = useState<A>();
  const [state, setState] = useState<'loading' | 'ready'>('loading');
  const [problem, setProblem] = useState<ApiProblem>();
  const [, redraw] = useState(0);
  const loading = useRef(new Set<number>());
  const abort = useRef(new AbortController());

  const loadPage = async (page: number) => {
    if (loading.current.has(page)) return;
    loading.current.add(page);
    const { signal } = abort.current;
    try {
      const answer = await load({ offset: page * pageSize, limit: pageSize }, signal);
      if (signal.aborted) return;
      pages.current.set(page, answer.items);
      setLast(answer);
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
      if (reload || !pages.current.has(page)) void loadPage(page);
    }
  };

  useEffect(() => {
    abort.current.abort();
    abort.current = new AbortController();
    loading.current.clear();
    pages.current.clear();
    setState('loading');
    loadVisible(true);
    const timer = setInterval(() => {
      if (onlyIfStale && !isStale.current) return;
      isStale.current = false;
      loadVisible(true);
    }, everyMs);
    return () => {
      clearInterval(timer);
      abort.current.abort();
    };
  }, [...dependencies]);

  useReconnect(() => {
    isStale.current = true;
  });

  return {
    last,
    state,
    problem,
    at: (index) => pages.current.get(Math.floor(index / pageSize))?.[index % pageSize],
    show(first, last) {
      visible.current = { first, last };
      loadVisible(false);
    },
    setStale() {
      isStale.current = true;
      redraw((n) => n + 1);
    },
  };
}
