import { Counter, Gauge, Histogram, type LabelValues } from 'prom-client';
import type { Exposition } from './exposition.ts';

export type Labels = LabelValues<string>;

export interface MetricOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

export interface HistogramOptions extends MetricOptions {
  /** Upper bounds, ascending. Default: those of the Prometheus client libraries, in seconds. */
  readonly buckets?: readonly number[];
}

/** A counter. Without labels it is exposed as 0 from the start. */
export function counter({ registry }: Exposition, options: MetricOptions): Counter {
  return new Counter({ ...options, registers: [registry] });
}

/** A histogram without exemplars. */
export function histogram({ registry }: Exposition, { buckets, ...options }: HistogramOptions): Histogram {
  return new Histogram({ ...options, ...(buckets && { buckets: [...buckets] }), registers: [registry] });
}

/** A histogram whose buckets name the trace of a recent value. */
export class ExemplarHistogram {
  readonly #histogram: Histogram;

  constructor({ registry }: Exposition, { buckets, ...options }: HistogramOptions) {
    this.#histogram = new Histogram({
      ...{ ...options, enableExemplars: true, registers: [registry] },
      ...(buckets && { buckets: [...buckets] }),
    });
  }

  /** `traceId` becomes the exemplar of the value's bucket. */
  observe(labels: Labels, value: number, traceId: string | undefined): void {
    if (traceId === undefined) this.#histogram.labels(labels).observe(value);
    else this.#histogram.observe({ labels, value, exemplarLabels: { trace_id: traceId } });
  }
}

/** Reports one value. The last value of the same labels counts. */
export type Report = (value: number, labels?: Labels) => void;

/** A gauge whose values come from a callback at each scrape. */
export function observableGauge(
  { registry }: Exposition,
  options: MetricOptions,
  callback: (report: Report) => void | Promise<void>,
): void {
  new Gauge({
    ...{ ...options, registers: [registry] },
    async collect() {
      // Collected first, so that two concurrent scrapes expose the same.
      const values: [Labels, number][] = [];
      await callback((value, labels = {}) => void values.push([labels, value]));
      this.reset();
      // Without labels a reset leaves a 0, which is not a reported value.
      if (options.labelNames.length === 0) this.remove();
      for (const [labels, value] of values) this.set(labels, value);
    },
  });
}

/** A counter whose value comes from a callback at each scrape. */
export function observableCounter(
  { registry }: Exposition,
  options: MetricOptions,
  read: () => readonly (readonly [Labels, number])[],
): void {
  new Counter({
    ...{ ...options, registers: [registry] },
    collect() {
      this.reset();
      for (const [labels, value] of read()) this.inc(labels, value);
    },
  });
}
