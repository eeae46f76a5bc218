import { Counter as PromCounter } from 'prom-client';
import type { Exposition } from './exposition.ts';
import type { MetricOptions } from './metrics.ts';
import { type Labels, SeriesByLabels } from './series-by-labels.ts';

/** A counter. Without labels it is exposed as 0 from the start. */
export class Counter {
  readonly #series: SeriesByLabels<CounterSeries>;

  constructor({ registry }: Exposition, options: MetricOptions) {
    const counter: PromCounter = new PromCounter({
      ...{ ...options, registers: [registry] },
      collect: () => {
        for (const series of this.#series.all) series.flush();
      },
    });
    this.#series = new SeriesByLabels(options.labelNames, (labels) => new CounterSeries(counter, labels));
  }

  inc(labels: Labels, value = 1): void {
    this.#series.of(labels).inc(value);
  }

  /** The series of these labels, which is exposed from now on. */
  series(labels: Labels): CounterSeries {
    return this.#series.of(labels);
  }
}

/** Adds up increments until the next scrape. */
export class CounterSeries {
  readonly #counter: PromCounter;
  readonly #labels: Labels;
  #pending = 0;

  constructor(counter: PromCounter, labels: Labels) {
    this.#counter = counter;
    this.#labels = labels;
    counter.inc(labels, 0);
  }

  /** @throws RangeError if the value is negative or not finite */
  inc(value = 1): void {
    if (!(value >= 0 && value < Number.POSITIVE_INFINITY)) throw new RangeError(`a counter increased by ${value}`);
    this.#pending += value;
  }

  flush(): void {
    this.#counter.inc(this.#labels, this.#pending);
    this.#pending = 0;
  }
}
