import type { JetStreamBusOptions } from '@sluice/bus-jetstream';
import type { KafkaBusOptions } from '@sluice/bus-kafka';
import type { BindAddress, LogLevel } from '@sluice/process';
import type { RedisOptions } from '@sluice/store-redis';
import type { SettingsOptions } from './options/settings-options.ts';
import type { WriterOptions } from './options/writer-options.ts';

/** What a process of a fleet is told: file < environment < flags, checked, with its defaults. Holds secrets. */
export interface Configuration {
  /** Names streams, topics and keys: fleets with different names share servers without seeing each other. */
  readonly fleet: string;
  /** Of `changes` and `mutations`. Set once for a fleet. */
  readonly partitions: number;
  readonly bus: BusConfiguration;
  readonly store: StoreConfiguration;
  /** Each name once. Empty: the file names none, and no flag does. */
  readonly clusters: readonly ClusterConfiguration[];
  /** Further clusters, in Secrets of a management cluster. */
  readonly clusterSecrets?: ClusterSecretsConfiguration;
  /** heartbeatMs is less than half of ttlMs. */
  readonly leases: { readonly ttlMs: number; readonly heartbeatMs: number };
  /** For `toSettings`. */
  readonly controllers: SettingsOptions;
  readonly writer: WriterOptions;
  readonly traces: TracesConfiguration;
  readonly log: { readonly level: LogLevel; readonly format: 'text' | 'json' };
  /** Null: nowhere. Undefined: the default address, or a free port if that is taken. */
  readonly metricsBindAddress: BindAddress | null | undefined;
  readonly console: ConsoleConfiguration;
}

export interface ConsoleConfiguration {
  /** On loopback, unless there are a token and TLS. Undefined: the default address, or a free port if that is taken. */
  readonly bindAddress: BindAddress | undefined;
  readonly hosts: readonly string[];
  readonly token: string | undefined;
  /** In PEM. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly maxBytes: number;
  readonly retentionMs: number;
  /** `{traceId}` in it stands for the id of a trace. */
  readonly jaegerUrl: string | undefined;
  /** Where Jaeger is asked for a trace. */
  readonly jaegerQueryUrl: string | undefined;
}

export interface TracesConfiguration {
  /** Where OTLP over HTTP is taken. Undefined: nothing is traced. */
  readonly endpoint: string | undefined;
  /** Share of the traces that are recorded from their beginning. */
  readonly ratio: number;
  /** A change that takes longer is recorded as well. */
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
  /** For logs and metrics. */
  readonly name: string;
  /** Path of the kubeconfig, or of a directory of kubeconfigs. */
  readonly kubeconfig?: string;
  /** Context, several with commas, or `*` for all; the kubeconfig's current one if left out. */
  readonly context?: string;
  /** The cluster of the Pod in which this runs, as its service account. */
  readonly inCluster?: boolean;
}

export interface ClusterSecretsConfiguration {
  /** Of the Secrets' labels. */
  readonly selector: string;
  readonly namespace: string;
  /** Of the management cluster; that of the Pod in which this runs if left out. */
  readonly kubeconfig?: string;
  /** Context in it. */
  readonly context?: string;
}
