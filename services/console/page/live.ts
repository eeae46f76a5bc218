import { useEffect, useState } from 'preact/hooks';
import type { Update } from '../src/view/schemas.ts';
import { ApiProblem, follow } from './api.ts';

const listeners = new Set<(update: Update) => void>();
/** To the stream of updates. `lostAt`: in milliseconds since the Unix epoch. */
export type Connection = 'connecting' | 'open' | { readonly lostAt: number };

const watchers = new Set<(connection: Connection) => void>();
/** Told when the connection is there again: what happened meanwhile was missed. */
const returns = new Set<() => void>();
let connection: Connection = 'connecting';

/** One stream for the whole page, begun with it. */
export function startLive(): void {
  follow(
    (update) => {
      for (const listener of [...listeners]) listener(update);
    },
    (isOpen) => {
      const before = connection;
      if (isOpen) connection = 'open';
      else if (typeof before === 'string') connection = { lostAt: Date.now() };
      for (const watcher of [...watchers]) watcher(connection);
      if (isOpen && typeof before === 'object') for (const returned of [...returns]) returned();
    },
  );
}

export function useUpdates(listener: (update: Update) => void, dependencies: readonly unknown[]): void {
  useEffect(() => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, dependencies as unknown[]);
}

export function useConnection(): Connection {
  const [state, setState] = useState<Connection>(connection);
  useEffect(() => {
    setState(connection);
    const watcher = (now: Connection) => setState(now);
    watchers.add(watcher);
    return () => void watchers.delete(watcher);
  }, []);
  return state;
}

/** Calls back when the connection is there again after it was lost. */
export function useReturn(returned: () => void): void {
  useEffect(() => {
    returns.add(returned);
    return () => void returns.delete(returned);
  }, []);
}

/** The time, at such intervals. */
export function useNow(everyMs = 1_000): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

export type Loaded<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly problem: ApiProblem }
  /** `problem`: what it shows is old, since asking again failed. */
  | { readonly state: 'ready'; readonly value: T; readonly problem?: ApiProblem };

const retryMs = 3_000;

/**
 * Asks, asks again when a dependency changes or the connection returns, and goes on trying after a failure, unless the
 * answer is that there is no such thing. `everyMs`: also asks again at such intervals.
 */
export function useLoaded<T>(
  load: (signal: AbortSignal) => Promise<T>,
  dependencies: readonly unknown[],
  everyMs?: number,
): readonly [Loaded<T>, () => void] {
  const [loaded, setLoaded] = useState<Loaded<T>>({ state: 'loading' });
  const [asked, setAsked] = useState(0);
  const askAgain = () => setAsked((n) => n + 1);
  useReturn(askAgain);
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    load(abort.signal).then(
      (value) => {
        if (abort.signal.aborted) return;
        setLoaded({ state: 'ready', value });
        if (everyMs !== undefined) timer = setTimeout(askAgain, everyMs);
      },
      (error: unknown) => {
        if (abort.signal.aborted) return;
        const problem = error instanceof ApiProblem ? error : new ApiProblem(String(error));
        setLoaded((before) => (before.state === 'ready' ? { ...before, problem } : { state: 'failed', problem }));
        if (problem.status !== 404) timer = setTimeout(askAgain, retryMs);
      },
    );
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [...dependencies, asked]);
  return [loaded, askAgain];
}
