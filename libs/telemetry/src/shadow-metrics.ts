import type { Controller } from '@sluice/controllers';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { ClusterLabel } from './cluster-label.ts';

/** Services by where they stand. */
export type ShadowStands = Readonly<Record<'agree' | 'waiting' | 'explained' | 'unexplained', number>>;

/** Seconds; a genuine controller answers within milliseconds, or waits its turn of 20 requests a second. */
const leadBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** How what Sluice would write compares with what the genuine controllers write. */
export class ShadowMetrics {
  readonly #cluster: ClusterLabel;
  readonly #differences: Counter;
  readonly #sooner: Histogram;

  constructor(registry: Registry, cluster: ClusterLabel, stands: () => ShadowStands) {
    this.#cluster = cluster;
    new Gauge({
      name: 'sluice_shadow_services',
      help: 'Services by whether Sluice and the genuine controllers agree on them',
      labelNames: ['stand'],
      registers: [registry],
      collect() {
        for (const [stand, count] of Object.entries(stands())) this.set({ stand }, count);
      },
    });
    this.#differences = new Counter({
      name: 'sluice_shadow_differences_total',
      help: 'Differences that lasted longer than the genuine controllers are given',
      labelNames: [...cluster.names, 'explained'],
      registers: [registry],
    });
    this.#sooner = new Histogram({
      name: 'sluice_shadow_sooner_seconds',
      help: "From Sluice's decision to the genuine controller's write of the same being seen",
      buckets: leadBuckets,
      labelNames: [...cluster.names, 'controller'],
      registers: [registry],
    });
  }

  differs(identity: string, explained: boolean): void {
    this.#differences.inc({ ...this.#cluster.of(identity), explained: String(explained) });
  }

  sooner(identity: string, controller: Controller, ms: number): void {
    this.#sooner.observe({ ...this.#cluster.of(identity), controller }, ms / 1000);
  }
}
