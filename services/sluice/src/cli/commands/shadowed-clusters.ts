import { clusterSources, connectReading, connectReadingTo, type ReadingCluster } from '@sluice/fleet/clusters';
import type { ClusterConfiguration, Configuration } from '@sluice/fleet/configuration';
import type { Clock, Logger, Random } from '@sluice/platform';
import { UsageError } from '@sluice/platform/process';
import { selectsManyClusters } from './run-options.ts';

interface Ports {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** In milliseconds. */
const readMs = 30_000;

/**
 * Connects to the clusters that the configuration selects at this time, to read only. One of several that cannot be used is left out,
 * with a warning.
 *
 * @throws UsageError if none can be used
 */
export async function connectShadowed(configuration: Configuration, ports: Ports): Promise<readonly ReadingCluster[]> {
  const options = { ...ports, controllers: configuration.controllers.enabled };
  if (!selectsManyClusters(configuration)) {
    const [{ namespaces: _, excludeNamespaces: __, ...access } = {} as ClusterConfiguration] = configuration.clusters;
    return [await connectReading({ ...options, ...access }, process.env)];
  }
  const leftOut = (name: string, from: string, reason: string) =>
    ports.logger.warn('cluster left out of the comparison', { cluster: name, from, reason });
  const sources = clusterSources(configuration, process.env, ports);
  const readings = await Promise.all(sources.map((source) => source.read(AbortSignal.timeout(readMs))));
  for (const { name, from, reason } of readings.flatMap(({ problems }) => problems)) leftOut(name, from, reason);
  const connecting = readings
    .flatMap(({ candidates }) => candidates)
    .map(async ({ name, from, load }) => {
      try {
        return await connectReadingTo(await load(), { ...options, name });
      } catch (error) {
        leftOut(name, from, error instanceof Error ? error.message : String(error));
        return undefined;
      }
    });
  const connected = (await Promise.all(connecting)).filter((cluster) => cluster !== undefined);
  if (connected.length === 0) throw new UsageError('no cluster can be compared; see the warnings above');
  return withoutDuplicates(connected, leftOut);
}

/** Two contexts may lead to one cluster. */
async function withoutDuplicates(
  connected: readonly ReadingCluster[],
  leftOut: (name: string, from: string, reason: string) => void,
): Promise<readonly ReadingCluster[]> {
  const first = new Map<string, ReadingCluster>();
  for (const cluster of connected) {
    const same = first.get(cluster.identity);
    if (same === undefined) first.set(cluster.identity, cluster);
    else {
      leftOut(cluster.name, cluster.server, `it is the same cluster as ${same.name}`);
      await cluster.close();
    }
  }
  return [...first.values()];
}
