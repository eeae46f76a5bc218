import { parsePinnedClusters } from '@sluice/fleet/clusters';
import type { Infrastructure } from '@sluice/fleet/roles';
import { type Clock, elapsedMs, instant } from '@sluice/platform';
import { UsageError } from '@sluice/platform/process';
import { type ClusterDirectory, type ClusterPins, isUnidentified, unidentified } from '@sluice/store';
import { removeCluster } from '@sluice/watcher';

/** What a fleet's store has of one cluster name. */
export interface StoredCluster {
  readonly name: string;
  /** Clusters known under this name only. */
  readonly identities: readonly string[];
  /** The name is pinned to an identity, or in conflict. */
  readonly pinned: boolean;
  /** The process that watches one of the clusters. */
  readonly watchedBy?: string;
}

interface StoredParts {
  readonly directory: Pick<ClusterDirectory, 'list'>;
  readonly clusterPins: Pick<ClusterPins, 'read'>;
  readonly leases: Pick<Infrastructure['leases'], 'state'>;
}

const group = 'watcher';

/** Reads the clusters that a fleet has stored, sorted by name. */
export async function readStoredClusters({
  directory,
  clusterPins,
  leases,
}: StoredParts): Promise<readonly StoredCluster[]> {
  const [listed, stored, { leases: held }] = await Promise.all([
    directory.list(),
    clusterPins.read(),
    leases.state(group),
  ]);
  const { pins, conflicts } = parsePinnedClusters(stored);
  const namesOf = new Map<string, Set<string>>();
  const add = (identity: string, name: string) => {
    namesOf.set(identity, (namesOf.get(identity) ?? new Set()).add(name));
  };
  for (const { identity, name } of listed) if (!isUnidentified(identity)) add(identity, name);
  for (const { identity, names } of pins) for (const name of names) add(identity, name);
  const pinned = new Set([...pins.flatMap(({ names }) => names), ...conflicts.map(({ name }) => name)]);
  const names = new Set([...listed.map(({ name }) => name), ...pinned]);
  return [...names].sort().map((name) => {
    const all = [...namesOf].filter(([, others]) => others.has(name));
    const watchedBy = held.find(({ scope }) => all.some(([identity]) => identity === scope))?.holder;
    return {
      name,
      identities: all.filter(([, others]) => others.size === 1).map(([identity]) => identity),
      pinned: pinned.has(name),
      ...(watchedBy !== undefined && { watchedBy }),
    };
  });
}

interface RemovalParts extends Pick<Infrastructure, 'bus' | 'store' | 'leases'> {
  readonly directory: ClusterDirectory;
  /** Takes part in the group of the watchers for a moment; unique. */
  readonly member: string;
  readonly clock: Clock;
}

/** Longer than a removal takes, in milliseconds. A watcher that takes over after that fences it. */
const removalMs = 15_000;

/**
 * Removes what the fleet has stored of a cluster, as its watcher does when it is removed from the configuration. Returns the
 * process that watches the cluster if there is one; then nothing is removed.
 */
export async function removeStoredCluster(
  { leases, store, bus, directory, member, clock }: RemovalParts,
  identity: string,
): Promise<string | undefined> {
  const startedAt = instant(clock);
  const heartbeat = { group, member, ttlMs: removalMs, release: [], acquire: [identity], serves: [identity] };
  try {
    const { leases: held } = await leases.heartbeat(heartbeat);
    const lease = held.find(({ scope }) => scope === identity);
    if (lease?.holder !== member) return lease?.holder ?? 'another process';
    await removeCluster({ cluster: identity, fencingToken: lease.fencingToken, bus, store, clock });
    // A watcher that has taken over has listed the cluster again.
    if (elapsedMs(clock, startedAt) >= removalMs)
      throw new UsageError(`removing the state of ${identity} took longer than ${removalMs / 1_000} s; try again`);
    await directory.remove(identity);
    return undefined;
  } finally {
    await leases.leave(group, member);
  }
}

/** Removes the entry of a process that never connected to the cluster. */
export const removeUnidentified = (directory: ClusterDirectory, name: string): Promise<void> =>
  directory.remove(unidentified(name));
