import type { JetStreamBusOptions } from '@sluice/bus-jetstream';
import type { KafkaBusOptions } from '@sluice/bus-kafka';
import type { BindAddress, LogLevel } from '@sluice/process';
import type { RedisOptions } from '@sluice/store-redis';
import type { SettingsOptions } from './options/settings-options.ts';
import type { WatcherOptions } from './options/watcher-options.ts';
import type { WriterOptions } from './options/writer-options.ts';

/** The validated configuration of a process, with defaults: file < environment < flags. Contains secrets. */
export interface Configuration {
  /** Prefix of streams, topics and keys, so that fleets with different names can share servers. */
  readonly fleet: string;
  /** Number of partitions of `changes` and of `mutations` of a new fleet. One that exists keeps to its own. */
  readonly partitions: number;
  /** Whether to connect to a bus or store on another host without TLS and without credentials. */
  readonly allowPlaintext: boolean;
  readonly bus: BusConfiguration;
  readonly store: StoreConfiguration;
  /** Clusters with unique names. Empty if neither the file nor a flag lists any. */
  readonly clusters: readonly ClusterConfiguration[];
  /** Further clusters, from Secrets of a management cluster. */
  readonly clusterSecrets?: ClusterSecretsConfiguration;
  /** In milliseconds; heartbeatMs is less than half of ttlMs. */
  readonly leases: { readonly ttlMs: number; readonly heartbeatMs: number };
  /** Input of `toSettings`. */
  readonly controllers: SettingsOptions;
  readonly watcher: WatcherOptions;
  readonly writer: WriterOptions;
  readonly traces: TracesConfiguration;
  readonly log: { readonly level: LogLevel; readonly format: 'text' | 'json' };
  /** Null: do not listen. Undefined: the default address, or a free port if it is taken. */
  readonly metricsBindAddress: BindAddress | null | undefined;
  readonly console: ConsoleConfiguration;
}

export interface ConsoleConfiguration {
  /** Loopback, unless a token and TLS are configured. Undefined: the default address, or a free port if it is taken. */
  readonly bindAddress: BindAddress | undefined;
  readonly hosts: readonly string[];
  readonly token: string | undefined;
  /** In PEM. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly maxBytes: number;
  readonly retentionMs: number;
  /** Address of a trace; `{traceId}` is replaced by its id. */
  readonly jaegerUrl: string | undefined;
  /** Address of Jaeger's query API. */
  readonly jaegerQueryUrl: string | undefined;
}

export interface TracesConfiguration {
  /** OTLP/HTTP endpoint. Undefined: tracing is off. */
  readonly endpoint: string | undefined;
  /** Share of the traces to record, 0 to 1. */
  readonly ratio: number;
  /** Changes that take longer are always recorded, in milliseconds. */
  readonly slowMs: number;
}

export type BusConfiguration =
  | { readonly kind: 'memory' }
  | ({ readonly kind: 'nats' } & Omit<JetStreamBusOptions, 'fleet' | 'partitions' | 'clientName'>)
  | ({ readonly kind: 'kafka' } & KafkaConfiguration);

export type KafkaConfiguration = Omit<
  KafkaBusOptions,
  'fleet' | 'partitions' | 'clientId' | 'clock' | 'random' | 'logger'
>;

export type StoreConfiguration =
  | { readonly kind: 'memory' }
  | ({ readonly kind: 'redis' } & Omit<RedisOptions, 'fleet'>);

export interface ClusterConfiguration {
  /** For logs and metrics. Default: the context. */
  readonly name?: string;
  /** Path of a kubeconfig, or of a directory of kubeconfigs. Default: those of $KUBECONFIG, or ~/.kube/config. */
  readonly kubeconfig?: string;
  /** A context, several separated by commas, or `*` for all. Default: the kubeconfig's current context. */
  readonly context?: string;
  /** Use the cluster and service account of this Pod. */
  readonly inCluster?: boolean;
  /** The only namespaces to serve. Default: all. */
  readonly namespaces?: readonly string[];
  /** Namespaces not to serve. */
  readonly excludeNamespaces?: readonly string[];
}

export interface ClusterSecretsConfiguration {
  /** Label selector of the Secrets. */
  readonly selector: string;
  readonly namespace: string;
  /** Kubeconfig of the management cluster. Default: the cluster of this Pod. */
  readonly kubeconfig?: string;
  /** Context in that kubeconfig. */
  readonly context?: string;
}
