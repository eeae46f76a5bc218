import type { Command } from 'commander';
import type { ClusterConfiguration, Configuration } from '../configuration/configuration.ts';
import { configVariable, type Environment } from '../configuration/environment-layer.ts';
import type { SettingsOptions } from '../settings-options.ts';
import type { LogLevel } from '../system/logger.ts';
import type { BindAddress } from '../telemetry/bind-address.ts';
import type { TracesOptions } from '../traces-options.ts';
import { UsageError } from '../usage-error.ts';
import type { WriterOptions } from '../writer-options.ts';

/** What `sluice run` takes from a configuration. */
export interface ConfiguredOptions extends SettingsOptions, WriterOptions, Partial<TracesOptions> {
  readonly config?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly inCluster?: boolean;
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
  const { loadConfiguration } = await import('../configuration/load-configuration.ts');
  const configuration = loadConfiguration({ file, environment, flags: {}, warn });
  checkOneProcess(configuration);
  const { controllers, writer, traces, log, metricsBindAddress, clusters } = configuration;
  const configured: Partial<ConfiguredOptions> = {
    ...controllers,
    ...writer,
    ...{ otlpEndpoint: traces.endpoint, traceRatio: traces.ratio, traceSlow: traces.slowMs },
    logLevel: log.level,
    ...(metricsBindAddress !== undefined && { metricsBindAddress: { address: metricsBindAddress } }),
  };
  const given = Object.entries(options).filter(([name]) => command.getOptionValueSource(name) === 'cli');
  const namesCluster = options.kubeconfig !== undefined || options.inCluster === true;
  return { ...options, ...configured, ...(!namesCluster && onlyCluster(clusters)), ...Object.fromEntries(given) };
}

/** A process with a bus of its own beside a fleet would write what the fleet writes. */
function checkOneProcess({ bus, store, clusterSecrets }: Configuration): void {
  if (clusterSecrets !== undefined) {
    throw new UsageError('run takes Secrets with kubeconfigs by flag only: give --cluster-secrets LABELS');
  }
  const foreign = [bus.kind === 'memory' ? [] : 'a bus', store.kind === 'memory' ? [] : 'a store'].flat();
  if (foreign.length === 0) return;
  throw new UsageError(
    `run keeps bus and store in this process, and the configuration names ${foreign.join(' and ')}: ` +
      'start the roles with it (sluice watcher, reconciler, writer), or leave that out',
  );
}

function onlyCluster(clusters: readonly ClusterConfiguration[]): Partial<ConfiguredOptions> {
  if (clusters.length > 1) {
    const names = clusters.map(({ name }) => name).join(', ');
    throw new UsageError(
      `run serves one cluster, and the configuration names ${names}: give --kubeconfig FILE for one`,
    );
  }
  const [{ kubeconfig, context, inCluster } = {} as Partial<ClusterConfiguration>] = clusters;
  return {
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
    ...(inCluster !== undefined && { inCluster }),
  };
}
