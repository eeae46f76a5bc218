import { Gauge, Counter as PromCounter, Histogram as PromHistogram, type Registry } from 'prom-client';
import type { MetricRow } from './metrics-table.ts';

export type Labels = Readonly<Record<string, string | number>>;

/** One time series of a counter or histogram. */
export interface Series {
  /**
   * Adds to a counter, or a value to a histogram, where `traceId` becomes the exemplar of its bucket.
   *
   * @throws RangeError if the value is not finite, or negative for a counter
   */
  add(value: number, traceId?: string): void;
}

interface BufferedSeries extends Series {
  /** Hands what was added to prom-client. */
  flush(): void;
}

/** Names the label `cluster` of an identity; undefined: without this label. */
export type ClusterLabel = ((identity: string) => string) | undefined;

interface Branch {
  readonly next: Map<string | number | undefined, Branch>;
  series?: BufferedSeries;
}

type Exposition = Registry<'application/openmetrics-text; version=1.0.0; charset=utf-8'>;
type Register = (options: ReturnType<typeof optionsOf>, collect: () => void) => (labels: Labels) => BufferedSeries;

/**
 * A counter or histogram. prom-client finds a series by a string that it builds from all labels on each call, which costs most
 * of what a metric costs in code that is not hot. So values are gathered in a tree of label values until a scrape (ADR 0018).
 */
export class Instrument {
  readonly #names: readonly string[];
  readonly #cluster: ClusterLabel;
  readonly #create: (labels: Labels) => BufferedSeries;
  readonly #root: Branch = { next: new Map() };
  readonly #all: BufferedSeries[] = [];

  constructor(registry: Exposition, name: string, row: MetricRow, cluster: ClusterLabel) {
    this.#cluster = cluster;
    this.#names = ownLabels(row, cluster);
    const register = row.type === 'counter' ? registerCounter : registerHistogram(row);
    this.#create = register(optionsOf(registry, name, row, cluster), () => {
      for (const series of this.#all) series.flush();
    });
    for (const value of row.initial ?? []) this.series({ [row.labels[0] ?? '']: value });
  }

  /** The series of these labels, which is exposed from now on. */
  series(labels: Labels): Series {
    let branch = this.#root;
    for (const name of this.#names) {
      const value = labelValue(labels, name, this.#cluster);
      let next = branch.next.get(value);
      if (next === undefined) {
        next = { next: new Map() };
        branch.next.set(value, next);
      }
      branch = next;
    }
    if (branch.series === undefined) {
      branch.series = this.#create(exposedLabels(this.#names, labels, this.#cluster));
      this.#all.push(branch.series);
    }
    return branch.series;
  }
}

const registerCounter: Register = (options, collect) => {
  const counter = new PromCounter({ ...options, collect });
  return (labels) => {
    counter.inc(labels, 0);
    let pending = 0;
    return {
      add(value) {
        if (!(value >= 0 && value < Number.POSITIVE_INFINITY)) throw new RangeError(`a counter increased by ${value}`);
        pending += value;
      },
      flush() {
        counter.inc(labels, pending);
        pending = 0;
      },
    };
  };
};

/** Values of one series that wait; bounds memory if nothing scrapes the process. */
const maxPending = 64;

const registerHistogram =
  ({ buckets, exemplars = false }: MetricRow): Register =>
  (options, collect) => {
    const of = { ...options, collect, enableExemplars: exemplars, ...(buckets && { buckets: [...buckets] }) };
    const histogram = new PromHistogram(of);
    return (labels) => {
      const { observe } = histogram.labels(labels);
      histogram.zero(labels);
      const pending: number[] = [];
      const flush = () => {
        for (const value of pending) observe(value);
        pending.length = 0;
      };
      return {
        add(value, traceId) {
          if (!Number.isFinite(value))
            throw new RangeError(`a histogram observed what is not a valid number: ${value}`);
          if (traceId !== undefined) histogram.observe({ labels, value, exemplarLabels: { trace_id: traceId } });
          else if (pending.push(value) === maxPending) flush();
        },
        flush,
      };
    };
  };

type Report = (labels: Labels, value: number) => void;
/** Reports values at a scrape. */
export type Source = (report: Report) => void | Promise<void>;

/** A gauge or counter whose values come from callbacks at each scrape. */
export class ObservedInstrument {
  readonly #sources = new Set<Source>();

  constructor(registry: Exposition, name: string, row: MetricRow, cluster: ClusterLabel) {
    const { initial = [], combine, labels: names } = row;
    if (initial.length > 0)
      this.add((report) => {
        for (const value of initial) report({ [names[0] ?? '']: value }, 0);
      });
    const own = ownLabels(row, cluster);
    const metric: PromCounter | Gauge = new (row.type === 'gauge' ? Gauge : PromCounter)({
      ...optionsOf(registry, name, row, cluster),
      collect: async () => {
        // Collected first, so that two concurrent scrapes expose the same.
        const reported = await Promise.all([...this.#sources].map(valuesOf));
        const values = new Map<string, readonly [Labels, number]>();
        for (const [labels, value] of reported.flat()) {
          const exposed = exposedLabels(own, labels, cluster);
          const key = JSON.stringify(exposed);
          const [, before = 0] = values.get(key) ?? [];
          values.set(key, [
            exposed,
            combine === 'sum' ? before + value : combine === 'max' ? Math.max(before, value) : value,
          ]);
        }
        metric.reset();
        // Without labels a reset of a gauge leaves a 0, which is not a reported value.
        if (metric instanceof Gauge && own.length === 0) metric.remove();
        for (const [labels, value] of values.values()) metric.inc(labels, value);
      },
    });
  }

  /** Until the returned function is called. */
  add(source: Source): () => void {
    this.#sources.add(source);
    return () => void this.#sources.delete(source);
  }
}

async function valuesOf(source: Source) {
  const values: [Labels, number][] = [];
  await source((labels, value) => void values.push([labels, value]));
  return values;
}

function optionsOf(registry: Exposition, name: string, row: MetricRow, cluster: ClusterLabel) {
  const labelNames = ownLabels(row, cluster).map((label) => (label === 'identity' ? 'cluster' : label));
  return { name, help: row.help, labelNames, registers: [registry] };
}

const ownLabels = ({ labels }: MetricRow, cluster: ClusterLabel): readonly string[] =>
  cluster === undefined ? labels.filter((label) => label !== 'identity') : labels;

function labelValue(labels: Labels, name: string, cluster: ClusterLabel): string | number | undefined {
  const value = labels[name];
  return name === 'identity' && cluster !== undefined ? cluster(String(value)) : value;
}

function exposedLabels(names: readonly string[], labels: Labels, cluster: ClusterLabel): Labels {
  return Object.fromEntries(
    names.map((name) => [name === 'identity' ? 'cluster' : name, labelValue(labels, name, cluster) ?? '']),
  );
}
