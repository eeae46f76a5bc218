import type { Clock } from '@sluice/runtime';
import type { Metrics } from '@sluice/telemetry';
import { AdaptiveLimit, meteredWriter, type WritableCluster } from '@sluice/writer';
import { writerDefaults } from '../options/writer-options.ts';
import type { Cluster } from './cluster.ts';

export interface WritableOptions {
  readonly clock: Clock;
  /** Writes of this cluster under way at once, at most. */
  readonly maxWritesInFlight?: number;
  /** Default: nothing is counted. */
  readonly metrics?: Metrics;
}

/** The cluster as a writer uses it. */
export function writable(cluster: Cluster, options: WritableOptions): WritableCluster {
  const { clock, metrics, maxWritesInFlight: max = writerDefaults.maxWritesInFlight } = options;
  const limit = new AdaptiveLimit({ max, clock });
  metrics?.pipeline.limited(cluster.identity, limit);
  return {
    writer:
      metrics === undefined
        ? cluster.writer
        : meteredWriter(cluster.writer, (...answer) => metrics.pipeline.answered(cluster.identity, ...answer)),
    server: cluster.server,
    limit,
    record: cluster.record,
  };
}
