import type { Controller } from '@sluice/controllers';
import type { ClusterLabel } from './cluster-label.ts';
import { Counter } from './prometheus/counter.ts';
import type { Exposition } from './prometheus/exposition.ts';
import { Histogram } from './prometheus/histogram.ts';
import { observableGauge } from './prometheus/metrics.ts';

/** Number of Services by the result of their comparison. */
export type ShadowStands = Readonly<Record<'agree' | 'waiting' | 'explained' | 'unexplained', number>>;

/** In seconds: an upstream controller writes within milliseconds, or waits for its client-side rate limit. */
const leadBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Compares what Sluice would write with what the upstream controllers write. */
export class ShadowMetrics {
  readonly #cluster: ClusterLabel;
  readonly #differences: Counter;
  readonly #sooner: Histogram;

  constructor(exposition: Exposition, cluster: ClusterLabel, stands: () => ShadowStands) {
    this.#cluster = cluster;
    const services = {
      name: 'sluice_shadow_services',
      help: 'Services by the result of comparing Sluice with the upstream controllers',
      labelNames: ['result'],
    };
    observableGauge(exposition, services, (report) => {
      for (const [stand, count] of Object.entries(stands())) report(count, { result: stand });
    });
    this.#differences = new Counter(exposition, {
      name: 'sluice_shadow_differences_total',
      help: 'Differences that lasted longer than the settle time',
      labelNames: [...cluster.names, 'explained'],
    });
    this.#sooner = new Histogram(exposition, {
      name: 'sluice_shadow_lead_seconds',
      help: "Time from Sluice's decision to the watch event of the upstream controller's equivalent write",
      buckets: leadBuckets,
      labelNames: [...cluster.names, 'controller'],
    });
  }

  differs(identity: string, explained: boolean): void {
    this.#differences.inc({ ...this.#cluster.labels(identity), explained: String(explained) });
  }

  sooner(identity: string, controller: Controller, ms: number): void {
    this.#sooner.observe({ ...this.#cluster.labels(identity), controller }, ms / 1000);
  }
}
