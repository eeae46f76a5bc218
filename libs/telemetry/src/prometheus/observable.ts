import { Counter, Gauge } from 'prom-client';
import type { Exposition } from './exposition.ts';
import type { MetricOptions } from './vec.ts';

/** Reports one value, with label values in the order of the label names. The last value of the same labels counts. */
export type Report = (value: number, ...labels: readonly string[]) => void;

/** Reports the values that exist at the time of a scrape. */
export type Callback = (report: Report) => void | Promise<void>;

/** A gauge whose values come from a callback at each scrape. */
export function observableGauge({ registry }: Exposition, options: MetricOptions, callback: Callback): void {
  new Gauge({
    ...{ name: options.name, help: options.help, labelNames: options.labelNames, registers: [registry] },
    async collect() {
      const values = await valuesOf(options, callback);
      this.reset();
      // Without labels a reset leaves a 0, which is not a reported value.
      if (options.labelNames.length === 0) this.remove();
      for (const { labels, value } of values) this.set(labels, value);
    },
  });
}

/** A counter whose values come from a callback at each scrape. */
export function observableCounter({ registry }: Exposition, options: MetricOptions, callback: Callback): void {
  new Counter({
    ...{ name: options.name, help: options.help, labelNames: options.labelNames, registers: [registry] },
    async collect() {
      const values = await valuesOf(options, callback);
      this.reset();
      for (const { labels, value } of values) this.inc(labels, value);
    },
  });
}

interface Value {
  readonly labels: Record<string, string>;
  readonly value: number;
}

async function valuesOf({ labelNames }: MetricOptions, callback: Callback): Promise<Iterable<Value>> {
  const values = new Map<string, Value>();
  await callback((value, ...given) => {
    const labels = Object.fromEntries(labelNames.map((name, i) => [name, given[i] ?? '']));
    values.set(JSON.stringify(given), { labels, value });
  });
  return values.values();
}
