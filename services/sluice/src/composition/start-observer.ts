import { type History, RecordingBus } from '@sluice/console';
import type { Cluster } from '@sluice/fleet/clusters';
import type { ServiceKey } from '@sluice/messages';
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
  /** Called once the caches of a cluster are synced. */
  readonly onSynced?: ((cluster: Cluster) => void) | undefined;
}

export interface Observer {
  /** Observes a cluster until `signal` aborts. */
  serve(cluster: Cluster, signal: AbortSignal): Promise<void>;
  /** Discards the state of a cluster that is no longer observed; its history stays. */
  removeCluster(identity: string): Promise<void>;
  /** Publishes a snapshot of a Service. */
  resyncService(key: ServiceKey): void;
  close(): Promise<void>;
}

/** Runs watchers whose Changes become history: nothing is decided, and nothing is written. */
export function startObserver({ history, recorder, onSynced, ...options }: ObserverOptions): Observer {
  const bus = new RecordingBus(history, recorder);
  const watchers = new ClusterWatchers<Cluster>({ ...options, bus, recordEachEvent: true });
  return {
    async serve(cluster, signal) {
      const { watcher, close } = watchers.create(cluster);
      watcher.synced.then(
        () => onSynced?.(cluster),
        () => {},
      );
      await watcher.run(signal).finally(close);
    },
    removeCluster: (identity) => watchers.removeCluster(identity),
    resyncService: (key) => watchers.resyncService(key),
    close: () => bus.close(),
  };
}
