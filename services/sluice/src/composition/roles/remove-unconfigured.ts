import type { ClusterState } from '@sluice/fleet/clusters';
import { type Clock, type Logger, sleep, untilNextTick } from '@sluice/platform';
import { type ClusterDirectory, isUnidentified, type KnownCluster, type Leases } from '@sluice/store';

interface RemoveUnconfiguredOptions {
  readonly directory: Pick<ClusterDirectory, 'list' | 'remove'>;
  readonly leases: Pick<Leases, 'state'>;
  /** The clusters that this process is configured with. */
  readonly states: () => readonly ClusterState[];
  /** What each source is that this process has read, and whose entries can all be used. */
  readonly readableSources: () => ReadonlySet<string>;
  /** Removes what is stored of a cluster. Returns who watches it; then nothing is removed. */
  readonly remove: (identity: string) => Promise<string | undefined>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Interval of the comparison, and how long a cluster must have been unwatched before it is removed, in milliseconds. */
const [periodMs, unwatchedMs] = [5_000, 30_000] as const;

/**
 * Removes the state of clusters that were removed from the configuration while no process ran (ADR 0082). Their pins
 * stay until an operator runs `sluice clusters forget`.
 */
export async function removeUnconfigured(options: RemoveUnconfiguredOptions, signal: AbortSignal): Promise<void> {
  const { directory, leases, states, readableSources, remove, clock, logger } = options;
  let unwatchedSince: ReadonlyMap<string, number> = new Map();
  while (!signal.aborted) {
    await sleep(clock, untilNextTick(clock, periodMs), signal);
    if (signal.aborted) return;
    try {
      const now = clock.monotonic();
      const known = await directory.list();
      const watched = new Set((await leases.state('watcher')).leases.map(({ scope }) => scope));
      const unconfigured = unconfiguredClusters(known, states(), readableSources(), watched);
      unwatchedSince = new Map(unconfigured.map(({ identity }) => [identity, unwatchedSince.get(identity) ?? now]));
      for (const { identity, name } of unconfigured) {
        if (now - (unwatchedSince.get(identity) ?? now) < unwatchedMs) continue;
        if (isUnidentified(identity)) {
          await directory.remove(identity);
          continue;
        }
        if ((await remove(identity)) !== undefined) continue;
        logger.warn('removed the state of a cluster that is no longer configured', { cluster: name, identity });
      }
    } catch (error) {
      logger.debug('cannot compare the stored clusters with the configured ones', { error });
    }
  }
}

/**
 * The stored clusters that nobody watches and that their source does not list anymore, and what crashed processes left of those
 * for which they waited. Only a process that reads the source that listed a cluster can tell: the clusters of other processes
 * may come from elsewhere, and a process that is down removes nothing.
 */
export function unconfiguredClusters(
  known: readonly KnownCluster[],
  states: readonly ClusterState[],
  readableSources: ReadonlySet<string>,
  watched: ReadonlySet<string>,
): readonly KnownCluster[] {
  const isRead = ({ source }: KnownCluster) => source !== undefined && readableSources.has(source);
  const elsewhere = known.filter((one) => isUnidentified(one.identity) && !isRead(one));
  const waiting = new Set(elsewhere.map(({ name }) => name));
  return known.filter((cluster) => {
    const { identity, name } = cluster;
    if (!isRead(cluster) || watched.has(identity) || waiting.has(name)) return false;
    return !states.some((state) => state.identity === identity || (state.name === name && !isAnother(state, identity)));
  });
}

/** Whether the name belongs to another cluster by now. */
const isAnother = ({ phase, identity }: ClusterState, stored: string): boolean =>
  (phase === 'serving' || phase === 'paused') && identity !== stored;
