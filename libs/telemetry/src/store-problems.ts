import type { Exposition } from './prometheus/exposition.ts';
import { observableGauge } from './prometheus/metrics.ts';

/** Exposes how many problems of each kind the store's servers have. */
export function storeProblemsGauge(exposition: Exposition, counts: () => ReadonlyMap<string, number>): void {
  const about = {
    name: 'sluice_store_problems',
    help: 'Settings of the store that can lose data, by kind; checked each minute',
    labelNames: ['kind'],
  };
  observableGauge(exposition, about, (report) => {
    for (const [kind, count] of counts()) report(count, { kind });
  });
}
