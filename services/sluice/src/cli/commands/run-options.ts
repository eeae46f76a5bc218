import { statSync } from 'node:fs';
import type { DistributedBus } from '@sluice/demo/distributed';
import {
  addFlags,
  addLeaderElectionOptions,
  addRecordingFlags,
  addServiceFlags,
  type ClusterConfiguration,
  type Configuration,
  durationFlag,
  type LeaderElectionOptions,
  toLeaderElection,
} from '@sluice/fleet/configuration';
import type { NamespaceScope } from '@sluice/kubernetes';
import { UsageError } from '@sluice/platform/process';
import { type Command, Option } from 'commander';
import type { OutputFormat } from '../display/create-display.ts';

/** Repeated here, because importing the demo would slow down --help. */
const distributedBuses: readonly DistributedBus[] = ['nats', 'kafka'];

/** The flags of `sluice run` that are not settings. */
export interface RunOptions extends LeaderElectionOptions {
  readonly for?: number;
  readonly output: OutputFormat;
  readonly distributed?: boolean;
  readonly bus?: DistributedBus;
  /** Number of simulated clusters. Default: one, which does not fail. */
  readonly clusters?: number;
  readonly shadow?: boolean;
  readonly dryRun?: boolean;
  readonly shadowGracePeriod: number;
  /** Path of the report of a shadow run. */
  readonly shadowReport?: string;
  readonly seed?: number;
  readonly rate?: number;
  /** False: no console, and no history is kept. */
  readonly console: boolean;
}

/** How `sluice run` was called. */
export interface Run extends RunOptions {
  readonly configuration: Configuration;
}

/** All flags of `sluice run`. */
export function addRunOptions(command: Command): Command {
  const [clusters, mode] = ['Clusters:', 'Mode and output:'];
  command
    .optionsGroup(clusters)
    .option('--config <file>', 'configuration file (YAML); flags take precedence; default $SLUICE_CONFIG');
  addFlags(command, clusters, 'cluster.kubeconfig', 'cluster.context', 'clusterSecrets', 'cluster.inCluster');
  addFlags(command, clusters, 'cluster.namespaces', 'cluster.excludeNamespaces');
  command
    .optionsGroup(mode)
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
    .option(
      '--shadow-report <file>',
      'at the end, write the verdict of --shadow and all differences to this file (JSON)',
    )
    .option('--for <duration>', 'stop after this time, e.g. 20s or 1m30s', durationFlag)
    .addOption(
      new Option('-o, --output <format>', 'format of standard output')
        .choices(['text', 'json', 'none'])
        .default('text'),
    )
    .option('--no-console', 'disable the page and its history')
    .option('--clusters <n>', 'simulate this many clusters, of which one fails and returns', Number)
    .option('--seed <n>', 'simulated cluster: repeat the actions of this seed', Number)
    .option('--rate <n>', 'simulated cluster: this many random actions per second, instead of a story', Number);
  addRecordingFlags(command);
  command.optionsGroup(mode);
  addFlags(command, mode, 'log.level', 'console.bindAddress', 'console.authorizationMode', 'metricsBindAddress');
  addFlags(command, mode, 'console.jaegerUrl', 'console.jaegerQueryUrl');
  return addLeaderElectionOptions(addServiceFlags(command));
}

/** @throws UsageError if flags contradict each other */
export function checkRun(run: Run): void {
  const { configuration } = run;
  const namesCluster = selectsCluster(configuration);
  if (run.distributed && namesCluster) {
    throw new UsageError(
      '--distributed runs the simulated cluster; on a real cluster, start the roles: sluice watcher --help',
    );
  }
  const { metricsBindAddress, console } = configuration;
  if (run.distributed && (metricsBindAddress !== undefined || console.bindAddress !== undefined)) {
    throw new UsageError(
      '--console-bind-address and --metrics-bind-address are for one process; --distributed prints the address of its console, and each process has metrics of its own',
    );
  }
  if (console.authorizationMode === 'cluster' && !namesCluster) {
    throw new UsageError(
      '--console-authorization-mode cluster requires a console and a cluster that reviews the access of readers: pass --kubeconfig FILE, --context NAME or --in-cluster',
    );
  }
  const writes = (['takeOver', 'useServiceAccountCredentials'] as const).find((name) => configuration.writer[name]);
  if (writes !== undefined && !namesCluster) {
    throw new UsageError(
      `--${writes === 'takeOver' ? 'take-over' : 'use-service-account-credentials'} requires a cluster that Sluice writes to, and $KUBECONFIG and ~/.kube/config select none: pass --kubeconfig FILE, --context NAME or --in-cluster`,
    );
  }
  if (run.bus !== undefined && !run.distributed) {
    throw new UsageError(
      '--bus requires --distributed; to use your own bus, run the roles: see "sluice watcher --help"',
    );
  }
  if (run.shadowReport !== undefined && !run.shadow) throw new UsageError('--shadow-report requires --shadow');
  const isScoped = configuration.clusters.some((one) => (one.namespaces ?? one.excludeNamespaces) !== undefined);
  if (run.shadow && isScoped) {
    throw new UsageError('--namespaces and --exclude-namespaces require a cluster that Sluice writes to');
  }
  if (run.shadow && run.distributed) {
    throw new UsageError('--shadow runs in one process: remove --distributed');
  }
  if (electionOf(run) !== undefined && (!namesCluster || run.shadow || selectsManyClusters(configuration))) {
    throw new UsageError(
      '--leader-elect requires one cluster that Sluice writes to: pass --kubeconfig FILE, --context NAME or --in-cluster; for several clusters, run one Deployment per cluster, or a fleet',
    );
  }
  checkClusters(run);
  for (const name of ['seed', 'rate'] as const) {
    const value = run[name];
    if (value === undefined) continue;
    if (!Number.isFinite(value) || value < 0) throw new UsageError(`--${name} must be a non-negative number`);
    if (namesCluster) throw new UsageError(`--${name} is for the simulated cluster only`);
  }
}

/** Limit of `--clusters`; each has an API server in this process. */
const maxSimulatedClusters = 16;

function checkClusters({ clusters, configuration, shadow, distributed }: Run): void {
  if (clusters === undefined) return;
  if (!Number.isInteger(clusters) || clusters < 1 || clusters > maxSimulatedClusters) {
    throw new UsageError(`--clusters must be a number from 1 to ${maxSimulatedClusters}`);
  }
  if (selectsCluster(configuration)) {
    throw new UsageError('--clusters is for simulated clusters only; for real ones, see --kubeconfig and --context');
  }
  if (shadow || distributed) {
    throw new UsageError(`--clusters cannot be combined with ${shadow ? '--shadow' : '--distributed'}: remove one`);
  }
}

/** The election of a leader; undefined without `--leader-elect`. @throws UsageError for values that client-go rejects */
export function electionOf(run: Run) {
  return toLeaderElection({ ...run, namespaces: run.configuration.clusters[0]?.namespaces });
}

type Selection = Pick<Configuration, 'clusters' | 'clusterSecrets'>;

/** Whether a configuration can select more than one cluster, now or later. */
export function selectsManyClusters({ clusters, clusterSecrets }: Selection): boolean {
  const [first, ...others] = clusters;
  if (others.length > 0 || clusterSecrets !== undefined) return true;
  if (first?.context === '*' || first?.context?.includes(',')) return true;
  return (
    first?.kubeconfig !== undefined && statSync(first.kubeconfig, { throwIfNoEntry: false })?.isDirectory() === true
  );
}

/**
 * Whether a configuration selects a cluster. The default kubeconfig alone does not, because a run without a cluster is
 * a simulation and must not write to the cluster that kubectl happens to use.
 */
export function selectsCluster({ clusters, clusterSecrets }: Selection): boolean {
  return clusters.length > 0 || clusterSecrets !== undefined;
}

export function namespaceScope({ namespaces, excludeNamespaces }: ClusterConfiguration): NamespaceScope | undefined {
  if (namespaces === undefined && excludeNamespaces === undefined) return undefined;
  return { only: namespaces, except: excludeNamespaces };
}
