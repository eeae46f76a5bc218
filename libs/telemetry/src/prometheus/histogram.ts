import { Histogram as PromHistogram } from 'prom-client';
import type { Exposition } from './exposition.ts';
import type { MetricOptions } from './metrics.ts';
import { type Labels, SeriesByLabels } from './series-by-labels.ts';

export interface HistogramOptions extends MetricOptions {
  /** Upper bounds, ascending. Default: those of the Prometheus client libraries, in seconds. */
  readonly buckets?: readonly number[];
  /** Whether buckets name the trace of a recent value. Default false. */
  readonly exemplars?: boolean;
}

/** Values of one series that wait; bounds memory if nothing scrapes the process. */
const maxPending = 64;

export class Histogram {
  readonly #histogram: PromHistogram;
  readonly #series: SeriesByLabels<HistogramSeries>;

  constructor({ registry }: Exposition, { buckets, exemplars = false, ...options }: HistogramOptions) {
    this.#histogram = new PromHistogram({
      ...{ ...options, enableExemplars: exemplars, registers: [registry] },
      ...(buckets && { buckets: [...buckets] }),
      collect: () => {
        for (const series of this.#series.all) series.flush();
      },
    });
    this.#series = new SeriesByLabels(options.labelNames, (labels) => new HistogramSeries(this.#histogram, labels));
  }

  /** `traceId` becomes the exemplar of the value's bucket. */
  observe(labels: Labels, value: number, traceId?: string): void {
    const series = this.#series.of(labels);
    if (traceId === undefined) series.observe(value);
    else this.#histogram.observe({ labels, value, exemplarLabels: { trace_id: traceId } });
  }

  /** The series of these labels, which is exposed from now on. */
  series(labels: Labels): HistogramSeries {
    return this.#series.of(labels);
  }
}

/** Gathers values and hands them to prom-client together: a call per value is expensive in code that is not hot. */
export class HistogramSeries {
  readonly #observe: (value: number) => void;
  readonly #pending: number[] = [];

  constructor(histogram: PromHistogram, labels: Labels) {
    this.#observe = histogram.labels(labels).observe;
    histogram.zero(labels);
  }

  /** @throws RangeError if the value is not finite */
  observe(value: number): void {
    if (!Number.isFinite(value)) throw new RangeError(`a histogram observed what is not a valid number: ${value}`);
    if (this.#pending.push(value) === maxPending) this.flush();
  }

  flush(): void {
    for (const value of this.#pending) this.#observe(value);
    this.#pending.length = 0;
  }
}
