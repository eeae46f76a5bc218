import { useEffect, useState } from 'preact/hooks';
import { ApiProblem, follow, type Update } from './api.ts';

const listeners = new Set<(update: Update) => void>();
const states = new Set<(open: boolean) => void>();
let open = false;

/** One stream for the whole page, begun with it. */
export function startLive(): void {
  follow(
    (update) => {
      for (const listener of [...listeners]) listener(update);
    },
    (now) => {
      open = now;
      for (const listener of [...states]) listener(now);
    },
  );
}

export function useUpdates(listener: (update: Update) => void, dependencies: readonly unknown[]): void {
  useEffect(() => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, dependencies as unknown[]);
}

/** Whether the stream is open. */
export function useLiveState(): boolean {
  const [state, setState] = useState(open);
  useEffect(() => {
    setState(open);
    states.add(setState);
    return () => void states.delete(setState);
  }, []);
  return state;
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

/** Asks, asks again when a dependency changes, and goes on trying after a failure. */
export function useLoaded<T>(
  load: (signal: AbortSignal) => Promise<T>,
  dependencies: readonly unknown[],
): readonly [Loaded<T>, () => void] {
  const [loaded, setLoaded] = useState<Loaded<T>>({ state: 'loading' });
  const [asked, setAsked] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    load(abort.signal).then(
      (value) => {
        if (!abort.signal.aborted) setLoaded({ state: 'ready', value });
      },
      (error: unknown) => {
        if (abort.signal.aborted) return;
        const problem = error instanceof ApiProblem ? error : new ApiProblem(String(error));
        setLoaded((before) => (before.state === 'ready' ? { ...before, problem } : { state: 'failed', problem }));
        timer = setTimeout(() => setAsked((n) => n + 1), retryMs);
      },
    );
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [...dependencies, asked]);
  return [loaded, () => setAsked((n) => n + 1)];
}
