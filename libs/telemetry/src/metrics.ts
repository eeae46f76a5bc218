import type { ClusterNames } from '@sluice/process';
import type { ThreadUse } from '@sluice/runtime';
import { collectDefaultMetrics } from 'prom-client';
import { backendGauge } from './backend-metrics.ts';
import { CacheMetrics } from './cache-metrics.ts';
import { ChangeMetrics } from './change-metrics.ts';
import { type ClusterLabel, clusterLabel } from './cluster-label.ts';
import { type ClusterPhase, clusterPhaseGauge } from './cluster-phases.ts';
import { type ConsoleStands, consoleMetrics } from './console-metrics.ts';
import { type DemandOptions, demandMetrics } from './demand-metrics.ts';
import { EndpointSliceMetrics } from './endpointslice-metrics.ts';
import { LeaseMetrics } from './lease-metrics.ts';
import { MirroringMetrics } from './mirroring-metrics.ts';
import { PipelineMetrics } from './pipeline-metrics.ts';
import { type Exposed, Exposition } from './prometheus/exposition.ts';
import type { Check } from './server/health.ts';
import { ShadowMetrics, type ShadowStands } from './shadow-metrics.ts';
import { type SpanCounts, spanMetrics } from './span-metrics.ts';
import { storeProblemsGauge } from './store-problems.ts';
import { threadUseMetrics } from './thread-use-metrics.ts';
import { WorkqueueMetrics } from './workqueue-metrics.ts';

export interface MetricsOptions {
  readonly clusters: ClusterNames & { readonly size?: number };
  /** Whether metrics have a label `cluster`. Default: whether there is more than one cluster now. */
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
  /** What the demand for replicas is measured from. Default: not exposed. */
  readonly demand?: DemandOptions;
  /** Includes the default metrics of the process and of Node.js. Default true. */
  readonly process?: boolean;
}

/**
 * Sampling interval of the event loop lag, in milliseconds. Each sample wakes the process: with prom-client's default of
 * 10 ms that is most of what the metrics of an idle process cost.
 */
const eventLoopPeriodMs = 50;

/** All metrics of one process (docs/reference/metrics.md). */
export class Metrics {
  readonly endpointSlice: EndpointSliceMetrics;
  readonly mirroring: MirroringMetrics;
  readonly workqueue: WorkqueueMetrics;
  readonly pipeline: PipelineMetrics;
  readonly changes: ChangeMetrics;
  readonly caches: CacheMetrics;
  readonly leases: LeaseMetrics;
  readonly #exposition = new Exposition();
  readonly #cluster: ClusterLabel;

  constructor(options: MetricsOptions) {
    const cluster = clusterLabel(options.clusters, options.fleet ?? (options.clusters.size ?? 0) > 1);
    this.#cluster = cluster;
    this.endpointSlice = new EndpointSliceMetrics(this.#exposition, cluster);
    this.mirroring = new MirroringMetrics(this.#exposition, cluster);
    this.workqueue = new WorkqueueMetrics(this.#exposition);
    this.pipeline = new PipelineMetrics(this.#exposition, cluster);
    this.changes = new ChangeMetrics(this.#exposition, cluster);
    this.caches = new CacheMetrics(this.#exposition, cluster);
    this.leases = new LeaseMetrics(this.#exposition);
    spanMetrics(this.#exposition, options.spans ?? (() => undefined));
    if (options.phases) clusterPhaseGauge(this.#exposition, options.phases);
    if (options.storeProblems) storeProblemsGauge(this.#exposition, options.storeProblems);
    if (options.threadUses) threadUseMetrics(this.#exposition, options.threadUses);
    if (options.backends) backendGauge(this.#exposition, options.backends);
    if (options.demand) demandMetrics(this.#exposition, options.demand, this.leases);
    if (options.process !== false) {
      collectDefaultMetrics({ register: this.#exposition.registry, eventLoopMonitoringPrecision: eventLoopPeriodMs });
    }
  }

  /** Adds the metrics of shadow mode. */
  openShadow(stands: () => ShadowStands): ShadowMetrics {
    return new ShadowMetrics(this.#exposition, this.#cluster, stands);
  }

  /** Adds the metrics of a console. */
  openConsole(stands: () => ConsoleStands): void {
    consoleMetrics(this.#exposition, stands);
  }

  /** All metrics in the format that a scraper's `Accept` header prefers. */
  expose(accept: string | undefined): Promise<Exposed> {
    return this.#exposition.expose(accept);
  }

  /** All metrics in the Prometheus text format. */
  text(): Promise<string> {
    return this.#exposition.text();
  }
}
