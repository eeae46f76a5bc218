import type { ClusterConfiguration, Configuration, ConfigurationFlags, Environment } from '@sluice/configuration';
import { configVariable } from '@sluice/configuration';
import { UsageError } from '@sluice/process';
import type { Command } from 'commander';
import type { RunOptions } from './run-options.ts';

/**
 * The options of `sluice run`, completed from file and environment. Without `--config` and `SLUICE_CONFIG` they are
 * unchanged.
 *
 * @throws UsageError with all problems, and for the configuration of a fleet
 */
export async function withConfiguration(
  options: RunOptions,
  command: Command,
  environment: Environment,
  warn: (text: string) => void,
): Promise<RunOptions> {
  const file = options.config ?? (environment[configVariable] || undefined);
  if (file === undefined) return options;
  // Loaded on demand, as in the other commands.
  const { loadConfiguration } = await import('@sluice/configuration/load');
  const configuration = loadConfiguration({ file, environment, flags: clusterFlags(options), warn });
  checkOneProcess(configuration);
  const { controllers, watcher, writer, traces, log, metricsBindAddress, console } = configuration;
  const configured: Partial<RunOptions> = {
    ...controllers,
    ...watcher,
    ...writer,
    ...{ otlpEndpoint: traces.endpoint, traceRatio: traces.ratio, traceSlow: traces.slowMs },
    logLevel: log.level,
    ...(console.jaegerUrl !== undefined && { jaegerUrl: console.jaegerUrl }),
    ...(console.jaegerQueryUrl !== undefined && { jaegerQueryUrl: console.jaegerQueryUrl }),
    ...(metricsBindAddress !== undefined && { metricsBindAddress: { address: metricsBindAddress } }),
  };
  const given = Object.entries(options).filter(([name]) => command.getOptionValueSource(name) === 'cli');
  return { ...options, ...configured, ...clustersOf(configuration), ...Object.fromEntries(given) };
}

/** The flags that select clusters, which override those of the file. */
function clusterFlags(options: RunOptions): ConfigurationFlags {
  const { kubeconfig, context, inCluster, namespaces, excludeNamespaces } = options;
  const { clusterSecrets, clusterSecretsNamespace, clusterSecretsKubeconfig } = options;
  return {
    '--kubeconfig': kubeconfig,
    '--context': context,
    '--in-cluster': inCluster,
    '--namespaces': namespaces,
    '--exclude-namespaces': excludeNamespaces,
    '--cluster-secrets': clusterSecrets,
    '--cluster-secrets-namespace': clusterSecretsNamespace,
    '--cluster-secrets-kubeconfig': clusterSecretsKubeconfig,
  };
}

/** A process with its own bus would write the same objects as the fleet. */
function checkOneProcess({ bus, store }: Configuration): void {
  const foreign = [bus.kind === 'memory' ? [] : 'a bus', store.kind === 'memory' ? [] : 'a store'].flat();
  if (foreign.length === 0) return;
  throw new UsageError(
    `"sluice run" uses an in-process bus and store, but the configuration sets ${foreign.join(' and ')}: ` +
      'run "sluice watcher", "sluice reconciler" and "sluice writer" instead, or remove the setting',
  );
}

/**
 * A single cluster becomes flags, so that errors in it are reported at start; several clusters become a set that can
 * change.
 */
function clustersOf({ clusters, clusterSecrets }: Configuration): Partial<RunOptions> {
  if (clusters.length === 0 && clusterSecrets === undefined) return {};
  if (clusters.length > 1 || clusterSecrets !== undefined) return { named: { clusters, clusterSecrets } };
  const [
    { name, kubeconfig, context, inCluster, namespaces, excludeNamespaces } = {} as Partial<ClusterConfiguration>,
  ] = clusters;
  return {
    ...(name !== undefined && { clusterName: name }),
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
    ...(inCluster !== undefined && { inCluster }),
    ...(namespaces !== undefined && { namespaces }),
    ...(excludeNamespaces !== undefined && { excludeNamespaces }),
  };
}
