import type { CountedSlices } from '@sluice/controllers';
import type { ClusterLabel } from './cluster-label.ts';
import type { Exposition } from './prometheus/exposition.ts';
import { observableGauge } from './prometheus/metrics.ts';

interface Sums {
  endpoints: number;
  slices: number;
  desiredSlices: number;
  /** Number of Services by traffic distribution. A value that falls to 0 remains (I2). */
  readonly byTrafficDistribution: Map<string, number>;
}

/** The gauges of one controller: sums over all Services in the open partitions of this process (I1, I2). */
export class SliceGauges {
  readonly #byCluster = new Map<string, Sums>();
  readonly #cluster: ClusterLabel;

  constructor(exposition: Exposition, subsystem: string, cluster: ClusterLabel) {
    this.#cluster = cluster;
    const gauge = (name: string, help: string, of: (sums: Sums) => number) =>
      observableGauge(exposition, { name: `${subsystem}_${name}`, help, labelNames: cluster.names }, (report) => {
        for (const [identity, sums] of this.#byCluster) report(of(sums), cluster.labels(identity));
      });
    gauge('endpoints_desired', 'Number of endpoints desired', ({ endpoints }) => endpoints);
    gauge('num_endpoint_slices', 'Number of EndpointSlices', ({ slices }) => slices);
    gauge(
      'desired_endpoint_slices',
      'Number of EndpointSlices that would exist with perfect endpoint allocation',
      ({ desiredSlices }) => desiredSlices,
    );
  }

  /** Adds the gauge of Services by `spec.trafficDistribution`, which exists in the EndpointSlice controller only. */
  countTrafficDistribution(exposition: Exposition, subsystem: string): void {
    const cluster = this.#cluster;
    const about = {
      name: `${subsystem}_services_count_by_traffic_distribution`,
      help: 'Number of Services using some specific trafficDistribution',
      labelNames: [...cluster.names, 'traffic_distribution'],
    };
    observableGauge(exposition, about, (report) => {
      for (const [identity, { byTrafficDistribution }] of this.#byCluster) {
        for (const [value, services] of byTrafficDistribution)
          report(services, { ...cluster.labels(identity), traffic_distribution: value });
      }
    });
  }

  /** Replaces the counts of one Service. `before` is null for a new Service, `after` for a deleted one. */
  replace(identity: string, before: CountedSlices | null, after: CountedSlices | null): void {
    if (before === after) return;
    const sums = this.#sums(identity);
    if (before !== null) add(sums, before, -1);
    if (after !== null) add(sums, after, 1);
  }

  #sums(identity: string): Sums {
    let sums = this.#byCluster.get(identity);
    if (sums === undefined) {
      sums = { endpoints: 0, slices: 0, desiredSlices: 0, byTrafficDistribution: new Map() };
      this.#byCluster.set(identity, sums);
    }
    return sums;
  }
}

function add(sums: Sums, { endpoints, slices, desiredSlices, hinting }: CountedSlices, sign: 1 | -1): void {
  sums.endpoints += sign * endpoints;
  sums.slices += sign * slices;
  sums.desiredSlices += sign * desiredSlices;
  const value = hinting?.trafficDistribution ?? '';
  if (value === '') return;
  sums.byTrafficDistribution.set(value, (sums.byTrafficDistribution.get(value) ?? 0) + sign);
}
