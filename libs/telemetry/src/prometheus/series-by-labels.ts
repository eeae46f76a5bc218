export type Labels = Readonly<Record<string, string | number>>;

interface Branch<Series> {
  readonly next: Map<string | number | undefined, Branch<Series>>;
  series?: Series;
}

/**
 * The time series of one metric. prom-client finds a series by a string that it builds from all labels on each call, which
 * costs most of what a metric costs in code that is not hot (ADR 0018).
 */
export class SeriesByLabels<Series> {
  readonly #names: readonly string[];
  readonly #create: (labels: Labels) => Series;
  readonly #root: Branch<Series> = { next: new Map() };
  readonly #all: Series[] = [];

  constructor(names: readonly string[], create: (labels: Labels) => Series) {
    this.#names = names;
    this.#create = create;
  }

  get all(): readonly Series[] {
    return this.#all;
  }

  of(labels: Labels): Series {
    let branch = this.#root;
    for (const name of this.#names) {
      const value = labels[name];
      let next = branch.next.get(value);
      if (next === undefined) {
        next = { next: new Map() };
        branch.next.set(value, next);
      }
      branch = next;
    }
    if (branch.series === undefined) {
      branch.series = this.#create(labels);
      this.#all.push(branch.series);
    }
    return branch.series;
  }
}
