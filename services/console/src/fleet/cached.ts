import type { Clock } from '@sluice/platform';

/** Caches the result of `load` for `ttlMs`. Concurrent callers share one load; failures are not cached. */
export function cached<T>(clock: Pick<Clock, 'monotonic'>, ttlMs: number, load: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly result: Promise<T> } | undefined;
  return () => {
    const now = clock.monotonic();
    if (last !== undefined && now - last.at < ttlMs) return last.result;
    const entry = { at: now, result: load() };
    last = entry;
    entry.result.catch(() => {
      if (last === entry) last = undefined;
    });
    return entry.result;
  };
}
