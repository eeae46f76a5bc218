import { logLevels } from '@sluice/process';
import { type Command, Option } from 'commander';
import type { Configuration } from './configuration.ts';
import type { Environment } from './environment-layer.ts';
import { type ConfigurationFlags, type Flag, fileFlagPaths, flagPaths } from './flags.ts';
import type { ConfigurationSources } from './load-configuration.ts';
import { addSettingsOptions } from './options/settings-options.ts';
import { addTracesOptions } from './options/traces-options.ts';
import { addWatcherOptions } from './options/watcher-options.ts';
import { addWriterOptions } from './options/writer-options.ts';

/** Adds `--config` and the flags that override it; `configurationOf` reads them. */
export function addConfigurationOptions(command: Command): Command {
  command
    .optionsGroup('Fleet, bus and store:')
    .option('--config <file>', 'configuration file (YAML), see "sluice config --example" (default $SLUICE_CONFIG)')
    .option('--fleet <name>', 'fleet name; prefix of streams, topics and keys (default sluice)')
    .option(
      '--partitions <n>',
      'number of partitions of a new fleet; "sluice partitions set" changes it later (default 16)',
    )
    .option('--bus <url,...>', 'bus addresses: nats://, tls:// or kafka:// host:port, or memory')
    .option('--store <url,...>', 'store addresses: redis:// or rediss:// host:port, or memory')
    .addOption(
      new Option('--store-mode <mode>', 'Redis deployment mode').choices(['standalone', 'sentinel', 'cluster']),
    )
    .option('--store-master-name <name>', 'name of the master at the sentinels')
    .optionsGroup('Clusters:')
    .option('--kubeconfig <path>', 'kubeconfig of a cluster, or a directory of kubeconfigs')
    .option(
      '--context <name,...>',
      'contexts of the kubeconfig, * for all (default: the current context); without --kubeconfig, of $KUBECONFIG or ~/.kube/config',
    )
    .option('--in-cluster', 'the cluster of this Pod, with its service account')
    .option('--namespaces <name,...>', 'serve only these namespaces of the cluster (default: all)')
    .option('--exclude-namespaces <name,...>', 'serve all namespaces of the cluster but these')
    .option('--cluster-name <name>', 'cluster name in logs and metrics (default: the context)')
    .option('--cluster-secrets <selector>', 'clusters from kubeconfigs in Secrets with these labels')
    .option('--cluster-secrets-namespace <name>', 'namespace of these Secrets (default sluice)')
    .option(
      '--cluster-secrets-kubeconfig <file>',
      'kubeconfig of the cluster with these Secrets (default: the cluster of this Pod)',
    )
    .optionsGroup('Process:')
    .option('--lease-ttl <duration>', 'duration of a lease, and about the time of a take-over (default 900ms)')
    .addOption(new Option('--log-level <level>', 'minimum level of log lines (default info)').choices(logLevels))
    .addOption(new Option('--log-format <format>', 'format of log lines (default text)').choices(['text', 'json']))
    .option('--metrics-bind-address <host:port>', 'address of /metrics, /livez and /readyz; 0 disables it');
  return addWriterOptions(addWatcherOptions(addSettingsOptions(addTracesOptions(command))));
}

/** Adds the flags of a console. Other commands accept these settings in the file and ignore them. */
export function addConsoleOptions(command: Command): Command {
  return command
    .optionsGroup('Console:')
    .option('--console-bind-address <host:port>', 'address of the console, its API, /metrics, /livez and /readyz')
    .option('--console-host <name,...>', 'host names, in addition to localhost')
    .option('--console-token-file <file>', 'file with the token clients need; required unless it listens on loopback')
    .option(
      '--console-tls-cert-file <file>',
      'file with its certificate in PEM; required unless it listens on loopback',
    )
    .option('--console-tls-key-file <file>', 'file with the key of its certificate in PEM')
    .option('--jaeger-url <url>', 'link traces to this address, e.g. http://127.0.0.1:16686/trace/{traceId}')
    .option('--jaeger-query-url <url>', 'show traces from this Jaeger query address, e.g. http://127.0.0.1:16686');
}

/** The sources from which to load a command's configuration: its flags as given, and the environment. */
export function configurationSources(
  command: Command,
  environment: Environment,
  warn: (text: string) => void,
): ConfigurationSources {
  const given = command.options.filter((option) => command.getOptionValueSource(option.attributeName()) === 'cli');
  const flags: ConfigurationFlags = Object.fromEntries(
    given
      .filter(({ long }) => Object.hasOwn(flagPaths, long ?? '') || Object.hasOwn(fileFlagPaths, long ?? ''))
      .map((option) => [option.long as Flag, command.getOptionValue(option.attributeName()) as unknown]),
  );
  return { file: command.opts<{ config?: string }>().config, environment, flags, warn };
}

/**
 * Loads the configuration of a command that has `addConfigurationOptions`, for use in its action.
 *
 * @throws UsageError with all problems, without secrets
 */
export async function configurationOf(
  command: Command,
  environment: Environment,
  warn: (text: string) => void,
): Promise<Configuration> {
  // Loaded on demand: the settings' schemas and the YAML parser would slow down every other command.
  const { loadConfiguration } = await import('./load-configuration.ts');
  return loadConfiguration(configurationSources(command, environment, warn));
}

/** Like `configurationOf`, as a function that reads all files again at each call. It warns of nothing. */
export async function rereadConfigurationOf(command: Command, environment: Environment): Promise<() => Configuration> {
  const { loadConfiguration } = await import('./load-configuration.ts');
  const sources = configurationSources(command, environment, () => {});
  return () => loadConfiguration(sources);
}
