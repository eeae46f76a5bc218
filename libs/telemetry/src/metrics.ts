import { collectDefaultMetrics } from 'prom-client';
import { ChangeMetrics } from './change-metrics.ts';
import { type ClusterLabel, clusterLabel } from './cluster-label.ts';
import { type ClusterPhase, clusterPhaseGauge } from './cluster-phases.ts';
import { type ConsoleStands, consoleMetrics } from './console-metrics.ts';
import { EndpointSliceMetrics } from './endpointslice-metrics.ts';
import { LeaseMetrics } from './lease-metrics.ts';
import { MirroringMetrics } from './mirroring-metrics.ts';
import { PipelineMetrics } from './pipeline-metrics.ts';
import { Exposition } from './series/exposition.ts';
import { ShadowMetrics, type ShadowStands } from './shadow-metrics.ts';
import { spanMetrics } from './span-metrics.ts';
import type { SpanCounts } from './traces/span-buffer.ts';
import { WorkqueueMetrics } from './workqueue-metrics.ts';

export interface MetricsOptions {
  /** By identity, the names of the clusters that this process serves. Clusters may be added later. */
  readonly clusters: ReadonlyMap<string, string>;
  /** Whether metrics have a label `cluster`. Default: if there is more than one now. */
  readonly fleet?: boolean;
  /** What became of the spans of this process; undefined if it traces nothing. */
  readonly spans?: () => SpanCounts | undefined;
  /** Where each cluster of this process stands. Default: nobody says. */
  readonly phases?: () => readonly ClusterPhase[];
  /** Also the standard metrics of the process and of Node. Default true. */
  readonly process?: boolean;
}

/**
 * How often the event loop is looked at, in milliseconds. Each look wakes the process: with prom-client's 10 ms that was
 * most of what the metrics cost while little happens.
 */
const eventLoopPeriodMs = 50;

/** All metrics of one process (docs/reference/metrics.md). */
export class Metrics {
  readonly endpointSlice: EndpointSliceMetrics;
  readonly mirroring: MirroringMetrics;
  readonly workqueue: WorkqueueMetrics;
  readonly pipeline: PipelineMetrics;
  readonly changes: ChangeMetrics;
  readonly leases: LeaseMetrics;
  readonly #exposition = new Exposition();
  readonly #cluster: ClusterLabel;

  constructor(options: MetricsOptions) {
    const cluster = clusterLabel(options.clusters, options.fleet ?? options.clusters.size > 1);
    this.#cluster = cluster;
    this.endpointSlice = new EndpointSliceMetrics(this.#exposition, cluster);
    this.mirroring = new MirroringMetrics(this.#exposition, cluster);
    this.workqueue = new WorkqueueMetrics(this.#exposition);
    this.pipeline = new PipelineMetrics(this.#exposition, cluster);
    this.changes = new ChangeMetrics(this.#exposition, cluster);
    this.leases = new LeaseMetrics(this.#exposition);
    spanMetrics(this.#exposition, options.spans ?? (() => undefined));
    if (options.phases) clusterPhaseGauge(this.#exposition, options.phases);
    if (options.process !== false) {
      collectDefaultMetrics({ register: this.#exposition, eventLoopMonitoringPrecision: eventLoopPeriodMs });
    }
  }

  /** Adds the metrics of a shadow run; `stands` says where its Services stand now. */
  openShadow(stands: () => ShadowStands): ShadowMetrics {
    return new ShadowMetrics(this.#exposition, this.#cluster, stands);
  }

  /** Adds the metrics of a console. */
  openConsole(stands: () => ConsoleStands): void {
    consoleMetrics(this.#exposition, stands);
  }

  get contentType(): string {
    return this.#exposition.contentType;
  }

  /** As Prometheus reads it. */
  text(): Promise<string> {
    return this.#exposition.metrics();
  }
}
