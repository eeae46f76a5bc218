import type { Path } from './settings.ts';

/** Flags and the settings they override. Kept apart from the settings, so that `--help` does not load their schemas. */
export const flagPaths = {
  '--fleet': 'fleet',
  '--partitions': 'partitions',
  '--bus': 'bus.servers',
  '--store': 'store.url',
  '--store-mode': 'store.mode',
  '--store-master-name': 'store.masterName',
  '--cluster-name': 'cluster.name',
  '--kubeconfig': 'cluster.kubeconfig',
  '--context': 'cluster.context',
  '--in-cluster': 'cluster.inCluster',
  '--namespaces': 'cluster.namespaces',
  '--exclude-namespaces': 'cluster.excludeNamespaces',
  '--cluster-secrets': 'clusterSecrets.selector',
  '--cluster-secrets-namespace': 'clusterSecrets.namespace',
  '--cluster-secrets-kubeconfig': 'clusterSecrets.kubeconfig',
  '--lease-ttl': 'leases.ttl',
  '--controllers': 'controllers.enabled',
  '--max-endpoints-per-slice': 'controllers.maxEndpointsPerSlice',
  '--mirroring-max-endpoints-per-subset': 'controllers.mirroringMaxEndpointsPerSubset',
  '--endpoint-updates-batch-period': 'controllers.endpointUpdatesBatchPeriod',
  '--endpointslice-updates-batch-period': 'controllers.endpointsliceUpdatesBatchPeriod',
  '--mirroring-endpointslice-updates-batch-period': 'controllers.mirroringEndpointsliceUpdatesBatchPeriod',
  '--freshness-target': 'controllers.freshnessTarget',
  '--slice-watchers': 'controllers.sliceWatchers',
  '--compaction-writes-per-hour': 'controllers.compactionWritesPerHour',
  '--max-cache-bytes': 'watcher.maxCacheBytes',
  '--take-over': 'writer.takeOver',
  '--use-service-account-credentials': 'writer.useServiceAccountCredentials',
  '--max-writes-in-flight': 'writer.maxInFlight',
  '--max-writes-per-second': 'writer.maxPerSecond',
  '--max-retries-per-second': 'writer.maxRetriesPerSecond',
  '--concurrent-endpoint-syncs': 'writer.concurrentEndpointSyncs',
  '--concurrent-service-endpoint-syncs': 'writer.concurrentServiceEndpointSyncs',
  '--mirroring-concurrent-service-endpoint-syncs': 'writer.mirroringConcurrentServiceEndpointSyncs',
  '--max-removal-percent': 'writer.maxRemovalPercent',
  '--max-addition-percent': 'writer.maxAdditionPercent',
  '--otlp-endpoint': 'traces.endpoint',
  '--trace-ratio': 'traces.ratio',
  '--trace-slow': 'traces.slow',
  '--log-level': 'log.level',
  '--log-format': 'log.format',
  '--metrics-bind-address': 'metricsBindAddress',
  '--console-bind-address': 'console.bindAddress',
  '--console-host': 'console.hosts',
  '--jaeger-url': 'console.jaegerUrl',
  '--jaeger-query-url': 'console.jaegerQueryUrl',
} as const satisfies Readonly<Record<string, Path>>;

/** Flags that name a file with the value, because other users of the machine can read a process's arguments. */
export const fileFlagPaths = {
  '--console-token-file': 'console.token',
  '--console-tls-cert-file': 'console.tls.cert',
  '--console-tls-key-file': 'console.tls.key',
} as const satisfies Readonly<Record<string, Path>>;

export type Flag = keyof typeof flagPaths | keyof typeof fileFlagPaths;

/** The given flags with their texts, or with the values that commander parsed. */
export type ConfigurationFlags = Readonly<Partial<Record<Flag, unknown>>>;
