import { type ClusterSource, configuredNames, StoredIdentities } from '@sluice/fleet/clusters';
import type { OpenInfrastructure } from '@sluice/fleet/roles';
import type { Clock } from '@sluice/platform';
import { UsageError } from '@sluice/platform/process';
import { readStoredClusters, removeStoredCluster, removeUnidentified } from '../../composition/stored-clusters.ts';

interface ForgottenCluster {
  readonly name: string;
  /** Clusters whose state is removed. */
  readonly identities: readonly string[];
  /** Whether the name was pinned. */
  readonly pinned: boolean;
}

interface ForgetOptions {
  readonly sources: readonly ClusterSource[];
  readonly fleet: Pick<OpenInfrastructure, 'bus' | 'store' | 'leases' | 'directory' | 'clusterPins'>;
  /** Unique name of this process. */
  readonly member: string;
  readonly dryRun: boolean;
  readonly clock: Clock;
}

/**
 * Removes what a fleet has stored of a cluster: its state, its pins and its entry in the directory.
 *
 * @throws UsageError if the cluster is configured or watched, or nothing is stored of it
 */
export async function forgetCluster(name: string, options: ForgetOptions): Promise<ForgottenCluster> {
  const { sources, fleet, member, dryRun, clock } = options;
  if ((await configuredNames(sources)).has(name)) {
    throw new UsageError(`cluster ${name} is configured; remove it from the configuration of every process first`);
  }
  const found = (await readStoredClusters(fleet)).find((one) => one.name === name);
  if (found === undefined)
    throw new UsageError(`cluster ${name} is not stored; run "sluice doctor" to see those that are`);
  const { identities, pinned, watchedBy } = found;
  if (watchedBy !== undefined) throw watched(name, watchedBy);
  if (!dryRun) {
    for (const identity of identities) {
      const holder = await removeStoredCluster({ ...fleet, member, clock }, identity);
      if (holder !== undefined) throw watched(name, holder);
    }
    await removeUnidentified(fleet.directory, name);
    // Last: a pin protects the name until nothing else is left of the cluster.
    await new StoredIdentities(fleet.clusterPins).release(name);
  }
  return { name, identities, pinned };
}

const watched = (name: string, holder: string): UsageError =>
  new UsageError(`cluster ${name} is watched by ${holder}; remove it from the configuration of every process first`);
