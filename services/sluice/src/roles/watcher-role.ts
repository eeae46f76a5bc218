import type { ClusterReader } from '@sluice/kubernetes';
import type { Tenure } from '@sluice/ownership';
import { ClusterWatcher, type ClusterWatcherOptions } from '@sluice/watcher';
import { own, type RoleOptions } from './role.ts';

export interface WatchedCluster {
  readonly name: string;
  readonly identity: string;
  readonly reader: ClusterReader;
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
const comparePeriodMs = 60_000;

/**
 * Watches one cluster, or stands by while another process does. Each cluster is a group of its own, so that processes with
 * different clusters make one fleet.
 */
export function runWatcherRole(options: WatcherRoleOptions, signal: AbortSignal): Promise<void> {
  const { cluster } = options;
  const logger = options.logger.with({ cluster: cluster.name });
  return own(
    { ...options, logger },
    {
      group: `watcher/${cluster.identity}`,
      scopes: ['cluster'],
      work: async ({ epoch, signal }: Tenure) => {
        const { identity, reader } = cluster;
        const watcher = new ClusterWatcher({ comparePeriodMs, ...options, logger, cluster: identity, epoch, reader });
        logger.info('watching the cluster', { epoch });
        await watcher.run(signal);
      },
    },
    signal,
  );
}
