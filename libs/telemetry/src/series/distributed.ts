import { type About, type Exposition, head } from './exposition.ts';
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

export interface DistributedOptions extends About {
  /** Upper bounds, ascending. Default: Prometheus' own, in seconds. */
  readonly buckets?: readonly number[];
}

const defaultBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A histogram whose series count by themselves. */
export function distributed(exposition: Exposition, about: DistributedOptions): Labelled<Distribution> {
  const { name, buckets = defaultBuckets } = about;
  const distributions = new Labelled(about, () => new Distribution(buckets));
  // What the lines of all series begin with.
  const starts = [...buckets, '+Inf'].map((le) => `\n${name}_bucket{le="${le}"`);
  exposition.expose({
    name,
    text() {
      let text = head(about, 'histogram');
      for (const { labels, series } of distributions.all) text += linesOf(name, starts, labels, series);
      return text;
    },
  });
  return distributions;
}

/** Buckets as Prometheus has them, each with what is in those before it. */
function linesOf(name: string, starts: readonly string[], labels: string, series: Distribution): string {
  const { sum, count, buckets } = series;
  const [more, all] = labels === '' ? ['}', ''] : [`,${labels}}`, `{${labels}}`];
  let text = '';
  let below = 0;
  for (const [i, start] of starts.entries()) {
    below += buckets[i] ?? 0;
    text += `${start}${more} ${i < buckets.length ? below : count}`;
  }
  return `${text}\n${name}_sum${all} ${sum}\n${name}_count${all} ${count}`;
}
