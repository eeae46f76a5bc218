import { Counter, Histogram } from 'prom-client';
import type { Exposition } from './exposition.ts';
import { LabelChildren } from './label-children.ts';

export interface MetricOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

export type CounterVec = LabelChildren<CounterChild>;
export type CounterChild = Pick<Counter.Internal, 'inc'>;

/** A counter, partitioned by labels. A child is exposed as 0 as soon as it is looked up. */
export function counterVec({ registry }: Exposition, { name, help, labelNames }: MetricOptions): CounterVec {
  const counter = new Counter({ name, help, labelNames, registers: [registry] });
  return new LabelChildren((values) => {
    const child = counter.labels(...values);
    child.inc(0);
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
