import { Gauge, Counter as PromCounter } from 'prom-client';
import type { Exposition } from './exposition.ts';
import type { Labels } from './series-by-labels.ts';

export interface MetricOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
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
  new PromCounter({
    ...{ ...options, registers: [registry] },
    collect() {
      this.reset();
      for (const [labels, value] of read()) this.inc(labels, value);
    },
  });
}
