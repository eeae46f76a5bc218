import type { Clock, ThreadUse } from '@sluice/platform';
import type { ClusterNames } from '@sluice/platform/process';
import { collectDefaultMetrics } from 'prom-client';
import { type Exposed, Exposition } from './exposition.ts';
import {
  type ClusterLabel,
  Instrument,
  type Labels,
  ObservedInstrument,
  type Series,
  type Source,
} from './instruments.ts';
import { allMetrics, type LabelsOf, type MetricName } from './metrics-table.ts';
import { PartitionLags } from './partition-lag.ts';
import { ReplicaDemand } from './replica-demand.ts';
import type { Check } from './server/health.ts';

export interface ClusterPhase {
  readonly name: string;
  readonly phase: string;
}

/** Numbers of spans that left the queue of the batch processor. */
export interface SpanCounts {
  readonly exported: number;
  /** Dropped because the queue was full. */
  readonly queueFull: number;
  /** Dropped because the export failed. */
  readonly failed: number;
}

interface MetricsOptions {
  readonly clusters: ClusterNames & { readonly size?: number };
  /**
   * Whether metrics have a label `cluster`, which upstream's lack because kube-controller-manager serves one. Default: whether
   * there is more than one cluster now.
   */
  readonly fleet?: boolean;
  /** Exported and dropped spans of this process; undefined if tracing is off. */
  readonly spans?: () => SpanCounts | undefined;
  /** Current phase of each cluster of this process. Default: not exposed. */
  readonly phases?: () => readonly ClusterPhase[];
  /** What each cluster uses of the thread, by name. Default: not exposed. */
  readonly threadUses?: (() => ReadonlyMap<string, ThreadUse>) | undefined;
  /** Current number of problems of the store's servers, by kind. Default: not exposed. */
  readonly storeProblems?: (() => ReadonlyMap<string, number>) | undefined;
  /** Checks of bus and store, named `bus` and `store`. Default: both are in this process. */
  readonly backends?: () => readonly Check[];
  /** What the demand for replicas is measured from: the time for which the event loop was busy since the start. Default: not exposed. */
  readonly demand?: { readonly clock: Clock; readonly busyMs: () => number };
  /** Includes the default metrics of the process and of Node.js. Default true. */
  readonly process?: boolean;
}

/** Undefined: not exposed at this scrape. */
type Reading = number | undefined | Promise<number | undefined>;
type Observed = MetricName<'gauge' | 'observed counter'>;

/**
 * Sampling interval of the event loop lag, in milliseconds. Each sample wakes the process: with prom-client's default of
 * 10 ms that is most of what the metrics of an idle process cost.
 */
const eventLoopPeriodMs = 50;

/** All metrics of one process, as declared in `metricsTable` and by the controllers. */
export class Metrics {
  readonly lags = new PartitionLags((labels, records) => this.show(labels, { sluice_partition_lag_records: records }));
  readonly #exposition = new Exposition();
  readonly #instruments = new Map<string, Instrument>();
  readonly #observed = new Map<string, ObservedInstrument>();

  constructor(options: MetricsOptions) {
    const { clusters, fleet = (clusters.size ?? 0) > 1 } = options;
    const { registry } = this.#exposition;
    // An unknown cluster is labelled with its identity.
    const cluster: ClusterLabel = fleet ? (identity) => clusters.get(identity) ?? identity : undefined;
    for (const [name, row] of Object.entries(allMetrics())) {
      if (row.type === 'counter' || row.type === 'histogram')
        this.#instruments.set(name, new Instrument(registry, name, row, cluster));
      else this.#observed.set(name, new ObservedInstrument(registry, name, row, cluster));
    }
    this.#observeProcess(options);
    if (options.process !== false)
      collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopPeriodMs });
  }

  inc<Name extends MetricName<'counter'>>(name: Name, labels: LabelsOf<Name>, value = 1): void {
    this.series(name, labels).add(value);
  }

  /** `traceId` becomes the exemplar of the value's bucket. */
  observe<Name extends MetricName<'histogram'>>(
    name: Name,
    labels: LabelsOf<Name>,
    value: number,
    traceId?: string,
  ): void {
    this.series(name, labels).add(value, traceId);
  }

  /** The series of these labels, which is exposed from now on. */
  series<Name extends MetricName<'counter' | 'histogram'>>(name: Name, labels: LabelsOf<Name>): Series {
    return found(this.#instruments, name).series(labels);
  }

  /** Exposes what `source` reports at each scrape until the returned function is called. */
  report<Name extends Observed>(
    name: Name,
    source: (report: (labels: LabelsOf<Name>, value: number) => void) => void | Promise<void>,
  ): () => void {
    return found(this.#observed, name).add(source);
  }

  /** Adds to a counter or histogram that a controller declares. */
  record(name: string, labels: Labels, value: number): void {
    found(this.#instruments, name).series(labels).add(value);
  }

  /** Like `report`, for a gauge that a controller declares. */
  reportOwn(name: string, source: Source): () => void {
    return found(this.#observed, name).add(source);
  }

  /** Exposes readings with these labels until the returned function is called. */
  show<Name extends Observed>(labels: LabelsOf<Name>, readings: Readonly<Record<Name, () => Reading>>): () => void {
    const hide = Object.entries<() => Reading>(readings).map(([name, read]) =>
      found(this.#observed, name).add(async (report) => {
        const value = await read();
        if (value !== undefined) report(labels, value);
      }),
    );
    return () => {
      for (const one of hide) one();
    };
  }

  /** All metrics in the format that a scraper's `Accept` header prefers. */
  expose(accept: string | undefined): Promise<Exposed> {
    return this.#exposition.expose(accept);
  }

  /** All metrics in the Prometheus text format. */
  text(): Promise<string> {
    return this.#exposition.text();
  }

  #observeProcess({ spans, phases, storeProblems, threadUses, backends, demand }: MetricsOptions): void {
    this.show({}, { sluice_trace_spans_exported_total: () => spans?.()?.exported ?? 0 });
    this.report('sluice_trace_spans_dropped_total', (report) => {
      const { queueFull = 0, failed = 0 } = spans?.() ?? {};
      report({ reason: 'queue_full' }, queueFull);
      report({ reason: 'export_failed' }, failed);
    });
    this.report('sluice_cluster_phase', (report) => {
      for (const { name, phase } of phases?.() ?? []) report({ cluster: name, phase }, 1);
    });
    this.report('sluice_store_problems', (report) => {
      for (const [kind, count] of storeProblems?.() ?? []) report({ kind }, count);
    });
    this.report('sluice_watch_busy_seconds_total', (report) => {
      for (const [cluster, { usedMs }] of threadUses?.() ?? []) report({ cluster }, usedMs / 1_000);
    });
    this.report('sluice_watch_wait_seconds_total', (report) => {
      for (const [cluster, { waitedMs }] of threadUses?.() ?? []) report({ cluster }, waitedMs / 1_000);
    });
    this.report('sluice_backend_up', async (report) => {
      const checks = backends?.() ?? [];
      const results = await Promise.allSettled(checks.map(async ({ run }) => run()));
      for (const [i, { name }] of checks.entries())
        report({ backend: name }, results[i]?.status === 'fulfilled' ? 1 : 0);
    });
    if (demand === undefined) return;
    const { clock, busyMs } = demand;
    const replicas = new ReplicaDemand(
      () => clock.monotonic(),
      () => ({ busyMs: busyMs(), records: this.lags.processed('changes') }),
    );
    const read = async () => replicas.read(await this.lags.backlog('changes'));
    this.show(
      {},
      {
        sluice_utilization_ratio: async () => (await read()).utilization,
        sluice_backlog_seconds: async () => (await read()).backlogSeconds,
        sluice_desired_replicas: async () => (await read()).desiredReplicas,
      },
    );
  }
}

function found<T>(instruments: ReadonlyMap<string, T>, name: string): T {
  const instrument = instruments.get(name);
  if (instrument === undefined) throw new Error(`no metric ${name} of this type`);
  return instrument;
}

interface WatchIdleTimes {
  /** Called for each event of a watch. */
  observe(resource: string): void;
  close(): void;
}

/** Exposes the time since the last event of each watch of a cluster. */
export function watchIdleTimes(metrics: Metrics | undefined, identity: string, clock: Clock): WatchIdleTimes {
  const observedAt = new Map<string, number>();
  const gauges: (() => void)[] = [];
  return {
    observe(resource) {
      if (metrics !== undefined && !observedAt.has(resource)) {
        const idleSeconds = () => (clock.monotonic() - (observedAt.get(resource) ?? 0)) / 1000;
        gauges.push(metrics.show({ identity, resource }, { sluice_watch_idle_seconds: idleSeconds }));
      }
      observedAt.set(resource, clock.monotonic());
    },
    close() {
      for (const remove of gauges) remove();
    },
  };
}
