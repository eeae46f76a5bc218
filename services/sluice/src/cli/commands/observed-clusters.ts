import type { Configuration } from '@sluice/fleet/configuration';
import { UsageError } from '@sluice/platform/process';
import { InvalidArgumentError } from 'commander';
import { selectsCluster } from './run-options.ts';

/** Collects the namespaces of a flag that may be repeated. */
export function namespacesFlag(text: string, given: readonly string[] = []): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  for (const name of names) {
    if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name))
      throw new InvalidArgumentError(`${JSON.stringify(name)} is not the name of a namespace.`);
  }
  return [...new Set([...given, ...names])];
}

/**
 * The configuration with the clusters that `sluice observe` observes, or only these namespaces of them. Unlike a run that
 * writes, it may use what kubectl happens to use.
 *
 * @throws UsageError if clusters cannot be limited to namespaces
 */
export function withObservedClusters(
  configuration: Configuration,
  namespaces: readonly string[] | undefined,
): Configuration {
  const clusters = selectsCluster(configuration) ? configuration.clusters : [{}];
  if (namespaces === undefined) return { ...configuration, clusters };
  if (configuration.clusterSecrets !== undefined) {
    throw new UsageError('--namespace is not for clusters from Secrets: remove it, or --cluster-secrets');
  }
  const limited = clusters.map(({ excludeNamespaces: _, ...cluster }) => ({ ...cluster, namespaces }));
  return { ...configuration, clusters: limited };
}
