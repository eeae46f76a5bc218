import type { JetStreamBusOptions } from '@sluice/bus/jetstream';
import type { KafkaBusOptions } from '@sluice/bus/kafka';
import { controllers, descriptorOf } from '@sluice/controllers';
import type { Controller } from '@sluice/model';
import { secretsIn } from '@sluice/platform';
import type { BindAddress } from '@sluice/platform/process';
import { defaultSettings, type Settings } from '@sluice/service-state';
import type { RedisOptions } from '@sluice/store/redis';
import type { Environment } from './process-layers.ts';
import type { Section } from './setting-paths.ts';
import { batchPeriodOf, concurrentSyncsOf } from './settings.ts';

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
  readonly controllers: Section<'controllers'>;
  readonly watcher: Section<'watcher'>;
  readonly writer: Section<'writer'>;
  readonly traces: TracesConfiguration;
  readonly log: Section<'log'>;
  /** Null: do not listen. Undefined: the default address, or a free port if it is taken. */
  readonly metricsBindAddress: BindAddress | null | undefined;
  readonly console: ConsoleConfiguration;
  readonly recording: Section<'recording'>;
}

export interface ConsoleConfiguration {
  /** Loopback, unless a token and TLS are configured. Undefined: the default address, or a free port if it is taken. */
  readonly bindAddress: BindAddress | undefined;
  readonly hosts: readonly string[];
  readonly token: string | undefined;
  /** `cluster`: readers present tokens of their own, and `token` is not set. */
  readonly authorizationMode: 'token' | 'cluster';
  /** In PEM. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly maxBytes: number;
  /** Services with a history. */
  readonly maxServices: number;
  readonly retentionMs: number;
  /** How long the last known endpoints of a cluster that does not answer count (ADR 0097). */
  readonly lostClusters: { readonly action: 'keep' | 'age-out' | 'drop'; readonly maxAgeMs: number };
  /** When a Service with Pods that are not ready counts as degraded: after this time, or below this share of ready endpoints. */
  readonly degraded: { readonly afterMs: number; readonly below: number };
  /** Label of Services with their name in all clusters. */
  readonly serviceNameLabel: string | undefined;
  /** Address of a trace; `{traceId}` is replaced by its id. */
  readonly jaegerUrl: string | undefined;
  /** Address of Jaeger's query API. */
  readonly jaegerQueryUrl: string | undefined;
}

export interface TracesConfiguration {
  /** OTLP/HTTP endpoint. `memory`: the process keeps the last traces. Undefined: tracing is off. */
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

/** How to reach a cluster; see `clusterSettings`. */
export type ClusterConfiguration = { readonly [K in keyof Section<'cluster'>]?: NonNullable<Section<'cluster'>[K]> };

export interface ClusterSecretsConfiguration {
  /** Label selector of the Secrets. */
  readonly selector: string;
  readonly namespace: string;
  /** Kubeconfig of the management cluster. Default: the cluster of this Pod. */
  readonly kubeconfig?: string;
  /** Context in that kubeconfig. */
  readonly context?: string;
}

/** Limits of the writer per cluster. */
export type WriterLimits = Omit<Section<'writer'>, 'takeOver' | 'useServiceAccountCredentials'>;

export function toSettings(given: Section<'controllers'>): Settings {
  const { enabled, maxEndpointsPerSlice, freshnessTarget: freshnessTargetMs, sliceWatchers } = given;
  return {
    ...defaultSettings,
    controllers: enabled,
    maxEndpointsPerSlice,
    maxEndpointsPerSubset: given.mirroringMaxEndpointsPerSubset,
    batching: freshnessTargetMs > 0 ? { freshnessTargetMs, watchers: sliceWatchers } : null,
    sliceWatchers,
    // Without a period, changes are not batched, so that plans need not log it.
    batchPeriodMs: Object.fromEntries(positive((one) => given[batchPeriodOf(one)])),
  };
}

/** The maximum of concurrent requests of each controller that has one. */
export const concurrentSyncs = (limits: Partial<WriterLimits>): readonly (readonly [Controller, number])[] =>
  positive((one) => limits[concurrentSyncsOf(one)]);

function positive(given: (controller: Controller) => number | undefined): readonly (readonly [Controller, number])[] {
  return controllers.map((one) => [one, given(one) ?? 0] as const).filter(([, value]) => value > 0);
}

/** What watchers need to compact slices in the background; undefined: nothing to do. */
export function toCompaction({
  compactionWritesPerHour: writesPerHour,
  maxEndpointsPerSlice,
  enabled,
}: Section<'controllers'>): { readonly writesPerHour: number; readonly maxEndpointsPerSlice: number } | undefined {
  const compacts = [...enabled].some((controller) => descriptorOf(controller).compacts);
  return writesPerHour > 0 && compacts ? { writesPerHour, maxEndpointsPerSlice } : undefined;
}

/** The secrets of a process's settings, and the headers of its exporter of traces, which reads its own variables. */
export function configurationSecrets(configuration: Configuration, environment: Environment): readonly string[] {
  const headers = Object.entries(environment).flatMap(([name, value = '']) =>
    name.startsWith('OTEL_EXPORTER_OTLP_') && name.endsWith('HEADERS') ? value.split(',') : [],
  );
  return [...secretsIn(configuration), ...headers.map((header) => decoded(header.slice(header.indexOf('=') + 1)))];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
