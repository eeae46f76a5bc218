import type { ThreadUse } from '@sluice/runtime';
import type { Exposition } from './prometheus/exposition.ts';
import { observableCounter } from './prometheus/metrics.ts';

/** What each cluster uses of the event loop, and how long it has waited for its share. */
export function threadUseMetrics(exposition: Exposition, uses: () => ReadonlyMap<string, ThreadUse>): void {
  const counter = (name: string, help: string, ms: (use: ThreadUse) => number) =>
    observableCounter(exposition, { name, help, labelNames: ['cluster'] }, () =>
      [...uses()].map(([cluster, use]) => [{ cluster }, ms(use) / 1_000]),
    );
  counter(
    'sluice_watch_busy_seconds_total',
    'Time for which the lists and watches of a cluster used the event loop',
    ({ usedMs }) => usedMs,
  );
  counter(
    'sluice_watch_wait_seconds_total',
    'Time for which the lists and watches of a cluster waited because it exceeded its share of the event loop',
    ({ waitedMs }) => waitedMs,
  );
}
