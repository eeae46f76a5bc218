import {
  addLeaderElectionOptions,
  addSettingsOptions,
  addTracesOptions,
  addWatcherOptions,
  addWriterOptions,
  durationFlag,
  type LeaderElectionOptions,
  parseQueryUrl,
  parseTraceUrl,
  type SettingsOptions,
  type TracesOptions,
  toLeaderElection,
  type WatcherOptions,
  type WriterOptions,
} from '@sluice/configuration';
import type { DistributedBus } from '@sluice/demo/distributed';
import {
  type BindAddress,
  defaultBindAddress,
  formatBindAddress,
  type LogLevel,
  logLevels,
  parseBindAddress,
  UsageError,
} from '@sluice/process';
import { type Command, Option } from 'commander';
import type { OutputFormat } from '../display/create-display.ts';
import { type ClusterOptions, selectsCluster, selectsManyClusters } from './selects-many-clusters.ts';

/** Repeated here, because importing the demo would slow down --help. */
const distributedBuses: readonly DistributedBus[] = ['nats', 'kafka'];

export interface RunOptions
  extends SettingsOptions,
    Partial<WatcherOptions>,
    WriterOptions,
    ClusterOptions,
    LeaderElectionOptions,
    Partial<TracesOptions> {
  readonly config?: string;
  readonly for?: number;
  readonly output: OutputFormat;
  readonly distributed?: boolean;
  readonly bus?: DistributedBus;
  readonly shadow?: boolean;
  readonly dryRun?: boolean;
  readonly shadowGracePeriod: number;
  readonly logLevel: LogLevel;
  readonly seed?: number;
  readonly rate?: number;
  readonly jaegerUrl?: string;
  readonly jaegerQueryUrl?: string;
  /** In an object, because commander takes null for a flag without a value. Null: do not listen. */
  readonly metricsBindAddress?: { readonly address: BindAddress | null };
  /** False: no console, and no history is kept. */
  readonly console: boolean;
}

/** All flags of `sluice run`. */
export function addRunOptions(command: Command): Command {
  command
    .optionsGroup('Clusters:')
    .option('--config <file>', 'configuration file (YAML); flags take precedence; default $SLUICE_CONFIG')
    .option('--kubeconfig <path>', 'run on the cluster of this kubeconfig, or on all of a directory of kubeconfigs')
    .option(
      '--context <name,...>',
      'contexts of the kubeconfig, * for all (default: the current context); without --kubeconfig, of $KUBECONFIG or ~/.kube/config',
    )
    .option('--cluster-secrets <selector>', 'run on the clusters from kubeconfigs in Secrets with these labels')
    .option('--cluster-secrets-namespace <name>', 'namespace of these Secrets (default sluice)')
    .option(
      '--cluster-secrets-kubeconfig <file>',
      'kubeconfig of the cluster with these Secrets (default: the cluster of this Pod)',
    )
    .option('--in-cluster', 'run on the cluster of this Pod, with its service account')
    .option('--namespaces <name,...>', 'serve only these namespaces of the cluster (default: all)', namespaceList)
    .option('--exclude-namespaces <name,...>', 'serve all namespaces of the cluster but these', namespaceList)
    .optionsGroup('Mode and output:')
    .option(
      '--distributed',
      'run the simulated cluster on a local fleet: bus, store and each role as separate processes',
    )
    .addOption(
      new Option('--bus <kind>', 'bus of --distributed; kafka requires Java 17 and Maven (default: nats)').choices(
        distributedBuses,
      ),
    )
    .option('--shadow', 'write nothing; compare decisions with the objects that kube-controller-manager writes')
    .option('--dry-run', 'show what would be written, and write nothing; the same as --shadow')
    .addOption(
      new Option(
        '--shadow-grace-period <duration>',
        'how long the controllers of the cluster may take before a difference counts',
      )
        .argParser(durationFlag)
        .default(10_000, '10s'),
    )
    .option('--for <duration>', 'stop after this time, e.g. 20s or 1m30s', durationFlag)
    .addOption(
      new Option('-o, --output <format>', 'format of standard output')
        .choices(['text', 'json', 'none'])
        .default('text'),
    )
    .addOption(new Option('--log-level <level>', 'minimum level of log lines').choices(logLevels).default('info'))
    .option(
      '--metrics-bind-address <host:port>',
      `address of the console, /metrics, /livez and /readyz; 0 disables it (default ${formatBindAddress(defaultBindAddress)}, or a free port if taken)`,
      (text) => ({ address: parseBindAddress(text) }),
    )
    .option('--no-console', 'disable the page and its history')
    .option(
      '--jaeger-url <url>',
      'link traces to this address, e.g. http://127.0.0.1:16686/trace/{traceId}',
      parseTraceUrl,
    )
    .option(
      '--jaeger-query-url <url>',
      'show traces on the page from this Jaeger query address, e.g. http://127.0.0.1:16686',
      parseQueryUrl,
    )
    .option('--seed <n>', 'simulated cluster: repeat the actions of this seed', Number)
    .option('--rate <n>', 'simulated cluster: actions per second', Number);
  return addLeaderElectionOptions(addWriterOptions(addWatcherOptions(addSettingsOptions(addTracesOptions(command)))));
}

function namespaceList(text: string): readonly string[] {
  return text.split(',').map((name) => name.trim());
}

/** @throws UsageError if flags contradict each other */
export function checkRunOptions(options: RunOptions): void {
  for (const name of ['kubeconfig', 'context'] as const) {
    if (options.inCluster && options[name] !== undefined)
      throw new UsageError(`--in-cluster and --${name} are mutually exclusive`);
  }
  const namesCluster = selectsCluster(options);
  if (options.distributed && namesCluster) {
    throw new UsageError(
      '--distributed runs the simulated cluster; on a real cluster, start the roles: sluice watcher --help',
    );
  }
  if (options.distributed && options.metricsBindAddress !== undefined) {
    throw new UsageError(
      '--metrics-bind-address is for one process; --distributed prints the address of its console, and each process has metrics of its own',
    );
  }
  if (options.bus !== undefined && !options.distributed) {
    throw new UsageError(
      '--bus requires --distributed; to use your own bus, run the roles: see "sluice watcher --help"',
    );
  }
  if (options.namespaces !== undefined && options.excludeNamespaces !== undefined) {
    throw new UsageError('--namespaces and --exclude-namespaces are mutually exclusive');
  }
  if ((options.namespaces ?? options.excludeNamespaces) !== undefined && (!namesCluster || options.shadow)) {
    throw new UsageError('--namespaces and --exclude-namespaces require a cluster that Sluice writes to');
  }
  if (options.shadow && selectsManyClusters(options)) {
    throw new UsageError('--shadow compares one cluster: give one --kubeconfig FILE and one --context');
  }
  if (options.shadow && options.distributed) {
    throw new UsageError('--shadow runs in one process: remove --distributed');
  }
  if (toLeaderElection(options) !== undefined && (!namesCluster || options.shadow || selectsManyClusters(options))) {
    throw new UsageError(
      '--leader-elect requires one cluster that Sluice writes to: pass --kubeconfig FILE, --context NAME or --in-cluster; for several clusters, run one Deployment per cluster, or a fleet',
    );
  }
  for (const name of ['seed', 'rate'] as const) {
    const value = options[name];
    if (value === undefined) continue;
    if (!Number.isFinite(value) || value < 0) throw new UsageError(`--${name} must be a non-negative number`);
    if (namesCluster) throw new UsageError(`--${name} is for the simulated cluster only`);
  }
}
