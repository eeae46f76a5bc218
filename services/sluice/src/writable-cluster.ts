import type { Metrics } from '@sluice/telemetry';
import { meteredWriter, Semaphore, type WritableCluster } from '@sluice/writer';
import type { Cluster } from './cluster.ts';

export interface WritableOptions {
  /** Plans of one cluster applied at once. Default 32. */
  readonly writeConcurrency?: number;
  /** Default: nothing is counted. */
  readonly metrics?: Metrics;
}

/** The cluster as a writer uses it. */
export function writable(cluster: Cluster, { metrics, writeConcurrency = 32 }: WritableOptions): WritableCluster {
  const semaphore = new Semaphore(writeConcurrency);
  return {
    writer:
      metrics === undefined
        ? cluster.writer
        : meteredWriter(cluster.writer, (...answer) => metrics.pipeline.answered(cluster.identity, ...answer)),
    server: cluster.server,
    limit: (task) => semaphore.run(task),
    record: cluster.record,
  };
}
