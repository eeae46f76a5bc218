import { type History, RecordingBus } from '@sluice/console';
import type { Cluster } from '@sluice/fleet/clusters';
import type { Clock, Logger, Random } from '@sluice/platform';
import type { Recorder } from '@sluice/recording';
import type { Metrics } from '@sluice/telemetry';
import { ClusterWatchers, type ClusterWatchersOptions } from './cluster-watchers.ts';

interface ObserverOptions extends Pick<ClusterWatchersOptions<Cluster>, 'onAvailability' | 'maxCacheBytes'> {
  readonly history: History;
  /** Default: the history is in memory only. */
  readonly recorder?: Pick<Recorder, 'add'> | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics?: Metrics | undefined;
  /** Called once the caches of a cluster are synced; those of each namespace, if the cluster is watched by namespace. */
  readonly onSynced?: ((cluster: Cluster, namespace: string | undefined) => void) | undefined;
}

export interface Observer {
  /** Observes a cluster until `signal` aborts. */
  serve(cluster: Cluster, signal: AbortSignal): Promise<void>;
  /** Discards the state of a cluster that is no longer observed; its history stays. */
  removeCluster(identity: string): Promise<void>;
  close(): Promise<void>;
}

/** Runs watchers whose Changes become history: nothing is decided, and nothing is written. */
export function startObserver({ history, recorder, onSynced, ...options }: ObserverOptions): Observer {
  const bus = new RecordingBus(history, recorder);
  const watchers = new ClusterWatchers<Cluster>({ ...options, bus, recordEachEvent: true });
  return {
    async serve(cluster, signal) {
      const failed = new AbortController();
      const stop = AbortSignal.any([signal, failed.signal]);
      const running = watchedParts(cluster).map((part) => {
        const { watcher, close } = watchers.create(part);
        watcher.synced.then(
          () => onSynced?.(cluster, part.namespace),
          () => {},
        );
        return watcher.run(stop).finally(close);
      });
      try {
        await Promise.all(running);
      } finally {
        failed.abort();
        await Promise.allSettled(running);
      }
    },
    removeCluster: (identity) => watchers.removeCluster(identity),
    close: () => bus.close(),
  };
}

/** The cluster, or each namespace that may be read. */
function watchedParts({ readers, ...cluster }: Cluster) {
  if (readers === undefined) return [{ ...cluster, namespace: undefined }];
  return [...readers].map(([namespace, reader]) => ({ ...cluster, reader, namespace, watchers: readers.size }));
}
