import type { CountedSlices, descriptorOf } from '@sluice/controllers';
import type { Metrics } from '@sluice/telemetry';

type Declared = NonNullable<ReturnType<typeof descriptorOf>['metrics']['own']>;

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

  constructor(metrics: Metrics, { subsystem, rows }: Declared) {
    const each = (name: string, of: (sums: Sums) => number) => {
      if (!Object.hasOwn(rows, name)) return;
      metrics.reportOwn(`${subsystem}_${name}`, (report) => {
        for (const [identity, sums] of this.#byCluster) report({ identity }, of(sums));
      });
    };
    each('endpoints_desired', ({ endpoints }) => endpoints);
    each('num_endpoint_slices', ({ slices }) => slices);
    each('desired_endpoint_slices', ({ desiredSlices }) => desiredSlices);
    if (!Object.hasOwn(rows, 'services_count_by_traffic_distribution')) return;
    metrics.reportOwn(`${subsystem}_services_count_by_traffic_distribution`, (report) => {
      for (const [identity, { byTrafficDistribution }] of this.#byCluster) {
        for (const [value, services] of byTrafficDistribution)
          report({ identity, traffic_distribution: value }, services);
      }
    });
  }

  /** Replaces the counts of one Service. `before` is null for a new Service, `after` for a deleted one. */
  replace(identity: string, before: CountedSlices | null, after: CountedSlices | null): void {
    if (before === after) return;
    const sums = this.#byCluster.get(identity) ?? noSums();
    this.#byCluster.set(identity, sums);
    if (before !== null) add(sums, before, -1);
    if (after !== null) add(sums, after, 1);
  }
}

const noSums = (): Sums => ({ endpoints: 0, slices: 0, desiredSlices: 0, byTrafficDistribution: new Map() });

function add(sums: Sums, { endpoints, slices, desiredSlices, hinting }: CountedSlices, sign: 1 | -1): void {
  sums.endpoints += sign * endpoints;
  sums.slices += sign * slices;
  sums.desiredSlices += sign * desiredSlices;
  const value = hinting?.trafficDistribution ?? '';
  if (value === '') return;
  sums.byTrafficDistribution.set(value, (sums.byTrafficDistribution.get(value) ?? 0) + sign);
}
