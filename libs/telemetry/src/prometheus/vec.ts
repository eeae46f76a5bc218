import { Counter, Histogram } from 'prom-client';
import type { Exposition } from './exposition.ts';
import { LabelChildren } from './label-children.ts';

export interface MetricOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

export type CounterVec = LabelChildren<CounterChild>;

/** One series of a counter. Adds up in place, because `inc` of prom-client hashes the labels each time. */
export class CounterChild {
  #pending = 0;

  inc(by = 1): void {
    this.#pending += by;
  }

  /** Returns the sum since the last call. */
  drain(): number {
    const sum = this.#pending;
    this.#pending = 0;
    return sum;
  }
}

/** A counter, partitioned by labels. A child is exposed as 0 as soon as it is looked up. */
export function counterVec({ registry }: Exposition, { name, help, labelNames }: MetricOptions): CounterVec {
  const children: { readonly child: CounterChild; readonly series: Pick<Counter.Internal, 'inc'> }[] = [];
  const counter = new Counter({
    ...{ name, help, labelNames, registers: [registry] },
    collect() {
      for (const { child, series } of children) series.inc(child.drain());
    },
  });
  return new LabelChildren((values) => {
    const child = new CounterChild();
    children.push({ child, series: counter.labels(...values) });
    return child;
  });
}

export interface HistogramOptions extends MetricOptions {
  /** Upper bounds, ascending. Default: those of the Prometheus client libraries, in seconds. */
  readonly buckets?: readonly number[];
}

export type HistogramVec = LabelChildren<HistogramChild>;

export interface HistogramChild {
  /**
   * `traceId` becomes the exemplar of the value's bucket.
   * @throws TypeError if the value is not a finite number
   */
  observe(value: number, traceId?: string): void;
}

/** A histogram with exemplars, partitioned by labels. A child is exposed with zeros as soon as it is looked up. */
export function histogramVec(
  { registry }: Exposition,
  { name, help, labelNames, buckets }: HistogramOptions,
): HistogramVec {
  const histogram = new Histogram({
    ...{ name, help, labelNames, registers: [registry], enableExemplars: true },
    ...(buckets && { buckets: [...buckets] }),
  });
  return new LabelChildren((values) => {
    const child = histogram.labels(...values);
    const labels = Object.fromEntries(labelNames.map((label, i) => [label, values[i] ?? '']));
    histogram.zero(labels);
    return {
      observe(value, traceId) {
        if (traceId === undefined) child.observe(value);
        else histogram.observe({ labels, value, exemplarLabels: { trace_id: traceId } });
      },
    };
  });
}
