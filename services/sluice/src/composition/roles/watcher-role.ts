import type { ClusterReader } from '@sluice/kubernetes';
import type { Logger } from '@sluice/runtime';
import { ClusterWatcher, type ClusterWatcherOptions, removeCluster } from '@sluice/watcher';
import { watchAges } from '../telemetry/watch-ages.ts';
import { own, type RoleOptions } from './role.ts';

export interface WatchedCluster {
  readonly name: string;
  readonly identity: string;
  readonly reader: ClusterReader;
  /** For people, as far as they are known. */
  readonly version?: string;
  readonly server?: string;
}

export interface WatcherRoleOptions
  extends RoleOptions,
    Pick<ClusterWatcherOptions, 'resyncPeriodMs' | 'onState' | 'onMalformed'> {
  readonly cluster: WatchedCluster;
}

/**
 * A Change that was lost last of all, in a partition where nothing more happens, is noticed within this time, and a view
 * that is wrong for another reason within sixty times as long.
 */
const digestPeriodMs = 60_000;

/**
 * Watches one cluster, or stands by while another process does. Each cluster is a group of its own, so that processes with
 * different clusters make one fleet. If `served` aborts because the cluster is `removed`, the process that watches it
 * removes the cluster's state from the fleet.
 */
export function runWatcherRole(options: WatcherRoleOptions, served: AbortSignal): Promise<void> {
  const { cluster } = options;
  const logger = options.logger.with({ cluster: cluster.name });
  return own(
    { ...options, logger },
    {
      role: 'watcher',
      group: `watcher/${cluster.identity}`,
      scopes: ['cluster'],
      nameOf: () => cluster.name,
      work: async ({ fencingToken, signal, started }, store) => {
        const { identity, reader } = cluster;
        const ages = watchAges(options.metrics, identity, options.clock);
        const watched = { cluster: identity, fencingToken, reader, store, onProgress: ages.heard };
        const watcher = new ClusterWatcher({ digestPeriodMs, ...options, logger, ...watched });
        logger.info('watching cluster', { fencingToken });
        const standing = options.health?.watching(cluster.name);
        void watcher.synced.then(() => {
          standing?.synced();
          started();
        });
        const told = tellOf(options, logger);
        try {
          await watcher.run(signal);
        } finally {
          standing?.ended();
          ages.close();
        }
        if (served.reason !== 'removed') return;
        await removeCluster({ cluster: identity, fencingToken, bus: options.bus, store: options.store });
        await told;
        await options.directory?.remove(identity);
      },
    },
    served,
  );
}

/** For those who show the fleet to people; the work does not depend on it. */
async function tellOf({ directory, cluster }: WatcherRoleOptions, logger: Logger): Promise<void> {
  const { identity, name, version = '', server = '' } = cluster;
  try {
    await directory?.put({ identity, name, version, server });
  } catch (error) {
    logger.warn('cannot publish the name of the cluster', { error });
  }
}
