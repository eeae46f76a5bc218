import type { Controller } from '@sluice/controllers';
import type { ClusterLabel } from './cluster-label.ts';
import { type Count, counted } from './series/counted.ts';
import { type Distribution, distributed } from './series/distributed.ts';
import type { Exposition } from './series/exposition.ts';
import type { Labelled } from './series/labelled.ts';
import { shown } from './series/shown.ts';

/** Services by where they stand. */
export type ShadowStands = Readonly<Record<'agree' | 'waiting' | 'explained' | 'unexplained', number>>;

/** Seconds; a genuine controller answers within milliseconds, or waits its turn of 20 requests a second. */
const leadBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** How what Sluice would write compares with what the genuine controllers write. */
export class ShadowMetrics {
  readonly #cluster: ClusterLabel;
  readonly #differences: Labelled<Count>;
  readonly #sooner: Labelled<Distribution>;

  constructor(exposition: Exposition, cluster: ClusterLabel, stands: () => ShadowStands) {
    this.#cluster = cluster;
    const services = {
      name: 'sluice_shadow_services',
      help: 'Services by whether Sluice and the genuine controllers agree on them',
      labelNames: ['stand'],
    };
    shown(exposition, services, (show) => {
      for (const [stand, count] of Object.entries(stands())) show(count, stand);
    });
    this.#differences = counted(exposition, {
      name: 'sluice_shadow_differences_total',
      help: 'Differences that lasted longer than the genuine controllers are given',
      labelNames: [...cluster.names, 'explained'],
    });
    this.#sooner = distributed(exposition, {
      name: 'sluice_shadow_sooner_seconds',
      help: "From Sluice's decision to the genuine controller's write of the same being seen",
      buckets: leadBuckets,
      labelNames: [...cluster.names, 'controller'],
    });
  }

  differs(identity: string, explained: boolean): void {
    this.#differences.of(...this.#cluster.values(identity), String(explained)).inc();
  }

  sooner(identity: string, controller: Controller, ms: number): void {
    this.#sooner.of(...this.#cluster.values(identity), controller).observe(ms / 1000);
  }
}
