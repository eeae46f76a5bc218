import { Histogram, type Registry } from 'prom-client';
import { Labelled } from './labelled.ts';

/** One series of a histogram. */
export class Distribution {
  sum = 0;
  count = 0;
  /** How many values are in each bucket and in none before it; larger ones than all bounds are in none. */
  readonly buckets: number[];
  readonly #bounds: readonly number[];

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.buckets = bounds.map(() => 0);
  }

  /** @throws TypeError if it is no number: a sum would never recover from it */
  observe(value: number): void {
    if (!Number.isFinite(value)) throw new TypeError(`${value} cannot be observed: it is not a finite number`);
    this.sum += value;
    this.count++;
    let bucket = 0;
    while (value > (this.#bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket++;
    if (bucket < this.buckets.length) this.buckets[bucket] = (this.buckets[bucket] ?? 0) + 1;
  }
}

export interface DistributedOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  /** Upper bounds, ascending. Default: Prometheus' own, in seconds. */
  readonly buckets?: readonly number[];
}

const defaultBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A histogram whose series count by themselves; the registry asks for them when it is asked. */
export function distributed(registry: Registry, options: DistributedOptions): Labelled<Distribution> {
  const buckets = options.buckets ?? defaultBuckets;
  const series = new Labelled(options.labelNames, () => new Distribution(buckets));
  new ShownHistogram({ ...options, buckets: [...buckets], registers: [registry] }, series, buckets);
  return series;
}

/** To the registry, a histogram as any other. */
class ShownHistogram extends Histogram {
  readonly #series: Labelled<Distribution>;
  readonly #bounds: readonly number[];
  readonly #about: { readonly name: string; readonly help: string };

  constructor(
    configuration: ConstructorParameters<typeof Histogram>[0],
    series: Labelled<Distribution>,
    bounds: readonly number[],
  ) {
    super(configuration);
    this.#series = series;
    this.#bounds = bounds;
    this.#about = { name: configuration.name, help: configuration.help };
  }

  /** What the registry asks for. */
  async getForPromString() {
    const values = [...this.#series.all].flatMap(({ labels, series }) => this.#valuesOf(labels, series));
    return { ...this.#about, type: 'histogram', aggregator: 'sum', values };
  }

  /** Buckets as Prometheus has them, each with what is in those before it. */
  #valuesOf(sharedLabels: Readonly<Record<string, string>>, { sum, count, buckets }: Distribution) {
    let below = 0;
    const entry = (suffix: string, labels: object, value: number) => ({
      metricName: `${this.#about.name}_${suffix}`,
      labels,
      sharedLabels,
      value,
    });
    return [
      ...this.#bounds.map((le, i) => {
        below += buckets[i] ?? 0;
        return entry('bucket', { le }, below);
      }),
      entry('bucket', { le: '+Inf' }, count),
      entry('sum', {}, sum),
      entry('count', {}, count),
    ];
  }
}
