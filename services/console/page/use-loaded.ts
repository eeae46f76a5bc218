import { useEffect, useState } from 'preact/hooks';
import { ApiProblem } from './api.ts';
import { useReconnect } from './stream.ts';

export type Loaded<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly problem: ApiProblem }
  /** `problem`: reloading failed, so the value is outdated. */
  | { readonly state: 'ready'; readonly value: T; readonly problem?: ApiProblem };

const retryMs = 3_000;

/**
 * Loads a value, and reloads it when a dependency changes, after a reconnect, and every `everyMs`. Retries after failures
 * except 403 and 404. Returns the value and a function that reloads it.
 */
export function useLoaded<T>(
  load: (signal: AbortSignal) => Promise<T>,
  dependencies: readonly unknown[],
  everyMs?: number,
): readonly [Loaded<T>, () => void] {
  const [loaded, setLoaded] = useState<Loaded<T>>({ state: 'loading' });
  const [attempt, setAttempt] = useState(0);
  const reload = () => setAttempt((n) => n + 1);
  useReconnect(reload);
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    load(abort.signal).then(
      (value) => {
        if (abort.signal.aborted) return;
        setLoaded({ state: 'ready', value });
        if (everyMs !== undefined) timer = setTimeout(reload, everyMs);
      },
      (error: unknown) => {
        if (abort.signal.aborted) return;
        const problem = ApiProblem.from(error);
        setLoaded((before) => (before.state === 'ready' ? { ...before, problem } : { state: 'failed', problem }));
        if (problem.status !== 404 && problem.status !== 403) timer = setTimeout(reload, retryMs);
      },
    );
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [...dependencies, attempt]);
  return [loaded, reload];
}

/** The current time, updated at this interval. */
export function useNow(everyMs = 1_000): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
