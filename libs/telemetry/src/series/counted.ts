import { Counter, type Registry } from 'prom-client';
import { Labelled } from './labelled.ts';

/** One series of a counter. */
export class Count {
  value = 0;

  inc(by = 1): void {
    this.value += by;
  }
}

export interface CountedOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

/** A counter whose series count by themselves; the registry asks for them when it is asked. */
export function counted(registry: Registry, options: CountedOptions): Labelled<Count> {
  const series = new Labelled(options.labelNames, () => new Count());
  new Counter({
    ...options,
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, series: count } of series.all) this.inc({ ...labels }, count.value);
    },
  });
  return series;
}
