import { readFileSync } from 'node:fs';
import { knownSecrets } from '@sluice/runtime';
import { assembleBus } from './assemble-bus.ts';
import { assembleClusters } from './assemble-clusters.ts';
import { assembleConsole } from './assemble-console.ts';
import { assembleStore } from './assemble-store.ts';
import { configVariable } from './config-variable.ts';
import type { Configuration } from './configuration.ts';
import { configurationSecrets } from './configuration-secrets.ts';
import { type Environment, environmentLayer } from './environment-layer.ts';
import { fileLayer, type ReadText } from './file-layer.ts';
import { flagLayer } from './flag-layer.ts';
import type { ConfigurationFlags } from './flags.ts';
import type { Layer } from './layer.ts';
import { merge } from './merge.ts';
import { openTelemetryLayer } from './opentelemetry-layer.ts';
import { Problems } from './problems.ts';
import { check, type Entry, type Values } from './values.ts';

export interface ConfigurationSources {
  /** Path of a YAML file. Default: `SLUICE_CONFIG`, or no file. */
  readonly file?: string | undefined;
  readonly environment: Environment;
  readonly flags: ConfigurationFlags;
  /** Called with warnings about likely mistakes. */
  readonly warn?: (text: string) => void;
  readonly readText?: ReadText;
}

/** The configuration and the origin of each value, for `sluice config`. */
export interface ResolvedConfiguration {
  readonly configuration: Configuration;
  readonly entries: readonly Entry[];
}

/**
 * Loads the configuration: file < environment < flags.
 *
 * @throws UsageError with all problems, without secrets
 */
export function loadConfiguration(sources: ConfigurationSources): Configuration {
  return resolveConfiguration(sources).configuration;
}

/** Like `loadConfiguration`, with the origin of each value. */
export function resolveConfiguration(sources: ConfigurationSources): ResolvedConfiguration {
  const { environment, flags, warn = () => {}, readText = (path) => readFileSync(path, 'utf8') } = sources;
  const problems = new Problems();
  const file = sources.file ?? (environment[configVariable] || undefined);
  const layers = file === undefined ? [] : [fileLayer(file, readText, problems)];
  const given = merge(
    [...layers, openTelemetryLayer(environment, warn), environmentLayer(environment, warn), flagLayer(flags, problems)],
    problems,
  );
  const values = check(given, readText, problems);
  problems.throwIfAny();
  const resolved = assemble(values, given, problems);
  problems.throwIfAny();
  knownSecrets.remember(owner, configurationSecrets(resolved.configuration, environment));
  return resolved;
}

/** A process has one configuration, which it reads again. */
const owner = {};

function assemble(values: Values, given: Layer, problems: Problems): ResolvedConfiguration {
  const ttlMs = values.need('leases.ttl');
  values.setDefault('leases.heartbeat', Math.min(250, Math.floor(ttlMs / 3)));
  const heartbeatMs = values.need('leases.heartbeat');
  if (heartbeatMs >= ttlMs / 2) {
    problems.add(
      `${values.where('leases.heartbeat')} is ${heartbeatMs}ms; expected less than half of leases.ttl, ${ttlMs}ms`,
    );
  }
  const { clusters, origin } = assembleClusters(values, given, problems);
  const configuration: Configuration = {
    fleet: values.need('fleet'),
    partitions: values.need('partitions'),
    allowPlaintext: values.need('allowPlaintext'),
    bus: assembleBus(values, problems),
    store: assembleStore(values, problems),
    clusters,
    ...clusterSecrets(values, problems),
    leases: { ttlMs, heartbeatMs },
    controllers: {
      controllers: values.need('controllers.enabled'),
      maxEndpointsPerSlice: values.need('controllers.maxEndpointsPerSlice'),
      mirroringMaxEndpointsPerSubset: values.need('controllers.mirroringMaxEndpointsPerSubset'),
      endpointUpdatesBatchPeriod: values.need('controllers.endpointUpdatesBatchPeriod'),
      endpointsliceUpdatesBatchPeriod: values.need('controllers.endpointsliceUpdatesBatchPeriod'),
      mirroringEndpointsliceUpdatesBatchPeriod: values.need('controllers.mirroringEndpointsliceUpdatesBatchPeriod'),
      freshnessTarget: values.need('controllers.freshnessTarget'),
      sliceWatchers: values.need('controllers.sliceWatchers'),
      compactionWritesPerHour: values.need('controllers.compactionWritesPerHour'),
    },
    watcher: { maxCacheBytes: values.get('watcher.maxCacheBytes') },
    writer: {
      maxWritesInFlight: values.need('writer.maxInFlight'),
      maxWritesPerSecond: values.need('writer.maxPerSecond'),
      maxRetriesPerSecond: values.need('writer.maxRetriesPerSecond'),
      concurrentEndpointSyncs: values.need('writer.concurrentEndpointSyncs'),
      concurrentServiceEndpointSyncs: values.need('writer.concurrentServiceEndpointSyncs'),
      mirroringConcurrentServiceEndpointSyncs: values.need('writer.mirroringConcurrentServiceEndpointSyncs'),
      maxRemovalPercent: values.need('writer.maxRemovalPercent'),
      maxAdditionPercent: values.need('writer.maxAdditionPercent'),
      takeOver: values.need('writer.takeOver'),
      useServiceAccountCredentials: values.need('writer.useServiceAccountCredentials'),
    },
    traces: {
      endpoint: values.get('traces.endpoint'),
      ratio: values.need('traces.ratio'),
      slowMs: values.need('traces.slow'),
    },
    log: { level: values.need('log.level'), format: values.need('log.format') },
    metricsBindAddress: values.get('metricsBindAddress'),
    console: assembleConsole(values, problems),
  };
  const shown = clusters.map((cluster) => ({ ...cluster }));
  return { configuration, entries: [...values.entries(given), { path: 'clusters', shown, origin }] };
}

function clusterSecrets(values: Values, problems: Problems): Pick<Configuration, 'clusterSecrets'> {
  const selector = values.get('clusterSecrets.selector');
  const [kubeconfig, context] = [values.get('clusterSecrets.kubeconfig'), values.get('clusterSecrets.context')];
  if (context !== undefined && kubeconfig === undefined) {
    problems.add(
      `${values.where('clusterSecrets.context')} is set without a kubeconfig: set clusterSecrets.kubeconfig`,
    );
  }
  if (selector === undefined) return {};
  const namespace = values.need('clusterSecrets.namespace');
  return {
    clusterSecrets: { selector, namespace, ...(kubeconfig && { kubeconfig }), ...(context && { context }) },
  };
}
