import { defaultPartitions } from '@sluice/messages';
import type { Command } from 'commander';
import { Option } from 'commander';
import type { BusConfiguration, Configuration } from '../configuration/configuration.ts';
import { addSettingsOptions, type SettingsOptions } from '../settings-options.ts';
import { type LogLevel, logLevels } from '../system/logger.ts';
import { type BindAddress, parseBindAddress } from '../telemetry/bind-address.ts';
import { UsageError } from '../usage-error.ts';

const dayMs = 86_400_000;

/** For three brokers. The adapter has them too, but loading it takes time. */
const kafkaDefaults = {
  replicationFactor: 3,
  minInsyncReplicas: 2,
  retentionMs: { changes: dayMs, mutations: dayMs, requests: dayMs },
  maxMessageBytes: 4 * 1024 * 1024,
};

export interface RoleFlags extends SettingsOptions {
  readonly bus?: string;
  readonly store?: string;
  readonly fleet: string;
  readonly partitions: number;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly inCluster?: boolean;
  readonly logLevel: LogLevel;
  readonly metricsBindAddress?: BindAddress | null;
}

export function addRoleFlags(command: Command): Command {
  command
    .option('--bus <url>', 'nats://HOST:PORT or kafka://HOST:PORT, several with commas')
    .option('--store <url>', 'redis://HOST:PORT or rediss://HOST:PORT')
    .option('--fleet <name>', 'first part of the names of streams, topics and keys', 'sluice')
    .option('--partitions <n>', 'set once for a fleet', Number, defaultPartitions)
    .option('--kubeconfig <file>', 'the cluster of this kubeconfig')
    .option('--context <name>', 'context of the kubeconfig; its current context if left out')
    .option('--in-cluster', 'the cluster of the Pod in which this runs, as its service account')
    .addOption(
      new Option('--log-level <level>', 'least severe log line on standard error').choices(logLevels).default('info'),
    )
    .option(
      '--metrics-bind-address <host:port>',
      'serve /metrics, /livez and /readyz here; 0 for nowhere',
      parseBindAddress,
    );
  return addSettingsOptions(command);
}

/** @throws UsageError what is missing or cannot be */
export function toConfiguration(flags: RoleFlags): Configuration {
  const { fleet, partitions, store, kubeconfig, context, inCluster } = flags;
  if (store === undefined)
    throw new UsageError('give --store redis://HOST:PORT, which all processes of the fleet share');
  if (!Number.isInteger(partitions) || partitions < 1)
    throw new UsageError('--partitions must be a whole number from 1');
  const named = kubeconfig !== undefined || inCluster === true;
  const cluster = {
    name: context ?? 'cluster',
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
    ...(inCluster !== undefined && { inCluster }),
  };
  return {
    fleet,
    partitions,
    bus: busOf(flags.bus),
    store: { kind: 'redis', urls: store.split(',') },
    clusters: named ? [cluster] : [],
    leases: { ttlMs: 900, heartbeatMs: 250 },
    controllers: flags,
    log: { level: flags.logLevel, format: 'text' },
    metricsBindAddress: flags.metricsBindAddress,
  };
}

function busOf(text: string | undefined): BusConfiguration {
  if (text === undefined) throw new UsageError('give --bus nats://HOST:PORT or kafka://HOST:PORT');
  const servers = text.split(',');
  if (servers.every((server) => /^(nats|tls):\/\//.test(server))) return { kind: 'nats', servers };
  if (servers.every((server) => server.startsWith('kafka://'))) {
    return { kind: 'kafka', ...kafkaDefaults, brokers: servers.map((server) => server.slice('kafka://'.length)) };
  }
  throw new UsageError(`--bus ${text}: all addresses begin with nats://, or all with kafka://`);
}
