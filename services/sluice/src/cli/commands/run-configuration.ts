import type {
  ClusterConfiguration,
  Configuration,
  ConfigurationFlags,
  Environment,
  SettingsOptions,
  TracesOptions,
  WriterOptions,
} from '@sluice/configuration';
import { configVariable } from '@sluice/configuration';
import type { BindAddress, LogLevel } from '@sluice/process';
import { UsageError } from '@sluice/process';
import type { Command } from 'commander';
import type { ManyClustersOptions } from './many-clusters.ts';

/** What `sluice run` takes from a configuration. */
export interface ConfiguredOptions extends SettingsOptions, WriterOptions, ManyClustersOptions, Partial<TracesOptions> {
  readonly config?: string;
  readonly jaegerUrl?: string;
  readonly jaegerQueryUrl?: string;
  readonly logLevel: LogLevel;
  readonly metricsBindAddress?: { readonly address: BindAddress | null };
}

/**
 * The options of `sluice run`, with what file and environment say of those that no flag gives. Without `--config` and
 * `SLUICE_CONFIG` they stay as they are.
 *
 * @throws UsageError with all that is wrong, also if it is the configuration of a fleet
 */
export async function withConfiguration<T extends ConfiguredOptions>(
  options: T,
  command: Command,
  environment: Environment,
  warn: (text: string) => void,
): Promise<T> {
  const file = options.config ?? (environment[configVariable] || undefined);
  if (file === undefined) return options;
  // Loaded when needed, as by the other commands.
  const { loadConfiguration } = await import('@sluice/configuration');
  const configuration = loadConfiguration({ file, environment, flags: clusterFlags(options), warn });
  checkOneProcess(configuration);
  const { controllers, writer, traces, log, metricsBindAddress, console } = configuration;
  const configured: Partial<ConfiguredOptions> = {
    ...controllers,
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

/** These and the file say together which clusters there are. */
function clusterFlags(options: ConfiguredOptions): ConfigurationFlags {
  const { kubeconfig, context, inCluster } = options;
  const { clusterSecrets, clusterSecretsNamespace, clusterSecretsKubeconfig } = options;
  const flags: ConfigurationFlags = {
    '--kubeconfig': kubeconfig,
    '--context': context,
    '--in-cluster': inCluster,
    '--cluster-secrets': clusterSecrets,
    '--cluster-secrets-namespace': clusterSecretsNamespace,
    '--cluster-secrets-kubeconfig': clusterSecretsKubeconfig,
  };
  return flags;
}

/** A process with a bus of its own beside a fleet would write what the fleet writes. */
function checkOneProcess({ bus, store }: Configuration): void {
  const foreign = [bus.kind === 'memory' ? [] : 'a bus', store.kind === 'memory' ? [] : 'a store'].flat();
  if (foreign.length === 0) return;
  throw new UsageError(
    `"sluice run" uses an in-process bus and store, but the configuration sets ${foreign.join(' and ')}: ` +
      'run "sluice watcher", "sluice reconciler" and "sluice writer" instead, or remove the setting',
  );
}

/** One cluster is run by its flags, since what is wrong with it is then said at once; more come and go. */
function clustersOf({ clusters, clusterSecrets }: Configuration): Partial<ConfiguredOptions> {
  if (clusters.length === 0 && clusterSecrets === undefined) return {};
  if (clusters.length > 1 || clusterSecrets !== undefined) return { named: { clusters, clusterSecrets } };
  const [{ kubeconfig, context, inCluster } = {} as Partial<ClusterConfiguration>] = clusters;
  return {
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
    ...(inCluster !== undefined && { inCluster }),
  };
}
